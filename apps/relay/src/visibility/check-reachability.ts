import { limits, type Visibility } from "@agent/wire";
import type { Services } from "../services.ts";
import type { AgentRow } from "../storage/tables/agents.ts";

/**
 * Requests `/health` of an agent's endpoint, as the specification's agent server serves it. Any answer
 * shows that it can be reached; only the agent id of the answer is used.
 */
export async function checkReachability(
  { egress }: Pick<Services, "egress">,
  { agent_id, endpoint_url }: Pick<AgentRow, "agent_id" | "endpoint_url">,
): Promise<Visibility["checks"]> {
  const check = "endpoint";
  if (endpoint_url === null || !egress.checkUrl(endpoint_url).ok) return [];
  let answer: Response;
  try {
    const health = new URL("/health", endpoint_url);
    answer = await egress.withTimeout(limits.probeTimeoutMs)(health);
  } catch {
    return [{ check, ok: false, detail: "unreachable" }];
  }
  const answeredId = await parseAgentId(answer);
  if (answeredId === undefined) return [{ check, ok: true, detail: "reachable" }];
  return answeredId === agent_id
    ? [{ check, ok: true, detail: "reachable; answers as this agent" }]
    : [{ check, ok: false, detail: "reachable; answers as another agent" }];
}

async function parseAgentId(answer: Response): Promise<string | undefined> {
  try {
    const body: unknown = await answer.json();
    const named = (body as { agent_id?: unknown } | null)?.agent_id;
    return typeof named === "string" ? named : undefined;
  } catch {
    return undefined;
  }
}
