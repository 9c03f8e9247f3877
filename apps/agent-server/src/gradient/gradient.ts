import type { CredentialSubject } from "@agent/credentials";
import type { Counts, Tries } from "./counts.ts";

export type Gradient = Omit<CredentialSubject<"AgentGradientCredential">, "id" | "measured_at">;

/**
 * The figures of the gradient credential (docs/decisions.md, 10): plain shares of what was counted, each
 * from 0 to 1, and 0 while there is nothing to count. `gradient` is the mean of all but the last.
 */
export function gradientOf(counts: Counts): Gradient {
  const { tasks, tools, memories, recalled } = counts;
  const figures = {
    knowledge_density: share(memories, memories + tasks.made),
    knowledge_quality: share(recalled.confidence, recalled.items),
    graph_connectivity: rate(counts.delegations),
    temporal_stability: rate(counts.heartbeats),
    retrieval_quality: rate(counts.recalls),
    interaction_efficiency: rate(tasks),
    tool_efficiency: rate(counts.toolCalls),
  };
  const values = Object.values(figures);
  return {
    gradient: values.reduce((sum, value) => sum + value, 0) / values.length,
    ...figures,
    curiosity_pressure: share(tools.offered - tools.used, tools.offered),
  };
}

function rate({ made, good }: Tries): number {
  return share(good, made);
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(1, Math.max(0, part / whole));
}
