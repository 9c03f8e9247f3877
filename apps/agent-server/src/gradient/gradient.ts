import type { CredentialSubject } from "@agent/credentials";
import type { Counts, Attempts } from "./counts.ts";

export type Gradient = Omit<CredentialSubject<"AgentGradientCredential">, "id" | "measured_at">;

/**
 * Calculates the figures of the gradient credential (docs/decisions.md, 10): shares of the counts,
 * each from 0 to 1, and 0 while there is nothing to count. `gradient` is the mean of all but the
 * last.
 */
export function calculateGradient(counts: Counts): Gradient {
  const { tasks, tools, memories, recalled } = counts;
  const figures = {
    knowledge_density: calculateShare(memories, memories + tasks.total),
    knowledge_quality: calculateShare(recalled.confidence, recalled.items),
    graph_connectivity: calculateSuccessRate(counts.delegations),
    temporal_stability: calculateSuccessRate(counts.heartbeats),
    retrieval_quality: calculateSuccessRate(counts.recalls),
    interaction_efficiency: calculateSuccessRate(tasks),
    tool_efficiency: calculateSuccessRate(counts.toolCalls),
  };
  const values = Object.values(figures);
  return {
    gradient: values.reduce((sum, value) => sum + value, 0) / values.length,
    ...figures,
    curiosity_pressure: calculateShare(tools.offered - tools.used, tools.offered),
  };
}

function calculateSuccessRate({ total, succeeded }: Attempts): number {
  return calculateShare(succeeded, total);
}

function calculateShare(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(1, Math.max(0, part / whole));
}
