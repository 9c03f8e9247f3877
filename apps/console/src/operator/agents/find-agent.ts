import { isUuid } from "@agent/crypto";
import type { BodyOf, PageAnswer, RelayCaller } from "../../shared/relay/call-relay.ts";

export type ListedAgent = BodyOf<"listAllAgents">["agents"][number];

/**
 * Finds an agent by its whole id; null if no agent of this relay has it. A search would not do, because others
 * may have the id in their names, and come first.
 */
export async function findAgent(
  relay: Pick<RelayCaller, "call">,
  id: string,
): Promise<PageAnswer<ListedAgent | null>> {
  // The account of a wallet has an id that no agent can have.
  if (!isUuid(id)) return { ok: true, body: null };
  const answer = await relay.call("listAllAgents", { query: { agent: id, limit: 1 } });
  return answer.ok ? { ok: true, body: answer.body.agents[0] ?? null } : answer;
}
