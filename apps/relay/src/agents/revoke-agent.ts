import { refuse, type Answer, type Operations } from "@agent/wire";
import { note } from "../audit/note.ts";
import type { Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { deleteListing } from "./listing-store.ts";
import { reindex } from "./listing.ts";
import { endAllKeys } from "./key-store.ts";
import { findAgent, putAgent } from "./store.ts";

interface Revocation {
  readonly agentId: string;
  readonly reason: string | undefined;
  readonly caller: Caller;
}

/**
 * Ends an agent for good: its tokens, sockets and listing, and what its keys sign for tasks that
 * come from now on. Account, history and key chain stay, and the operator still acts for it.
 */
export async function revokeAgent(
  {
    storage,
    runtime,
    tokens,
    connections,
    log,
  }: Pick<Services, "storage" | "runtime" | "tokens" | "connections" | "log">,
  { agentId, reason, caller }: Revocation,
): Promise<Answer<Operations["revokeAgent"]>> {
  const now = runtime.now();
  const revoked = await storage.transaction(async (tx) => {
    const agent = await findAgent(tx, agentId);
    if (agent === undefined) return refuse("agent.not_found");
    if (agent.revoked_at !== null) return { ok: true as const, at: agent.revoked_at };
    const gone = { ...agent, registered: 0 as const, revoked_at: now };
    await putAgent(tx, gone);
    await endAllKeys(tx, agentId, now);
    await deleteListing(tx, agentId);
    await reindex(tx, gone, undefined);
    await note(tx, now, caller, { agentId, action: "agent.revoked", detail: reason });
    return { ok: true as const, at: now };
  });
  if (!revoked.ok) return revoked;
  tokens.forget(agentId);
  for (const connection of connections.of(agentId)) connection.close(4401, "agent revoked");
  log.info("agent.revoked", { agent_id: agentId });
  return { status: 200, body: { agent_id: agentId, revoked: true, revoked_at: revoked.at } };
}
