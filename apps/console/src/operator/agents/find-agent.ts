import type { BodyOf, PageAnswer, RelayCaller } from "../../shared/relay/call-relay.ts";

export type ListedAgent = BodyOf<"listAllAgents">["agents"][number];

/** Finds an agent by its whole id; null if no agent of this relay has it. */
export async function findAgent(
  relay: RelayCaller,
  id: string,
): Promise<PageAnswer<ListedAgent | null>> {
  const answer = await relay.call("listAllAgents", { query: { q: id, limit: 10 } });
  if (!answer.ok) return answer;
  return { ok: true, body: answer.body.agents.find(({ agent_id }) => agent_id === id) ?? null };
}
