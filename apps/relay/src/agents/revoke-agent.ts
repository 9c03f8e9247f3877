import { refuse, type Answer, type Operations } from "@agent/wire";
import { recordAudit } from "../audit/record-audit.ts";
import type { Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { deleteWebhooksByAgent } from "../webhooks/manage-webhooks.ts";
import { deleteListing } from "./discovery/listing-store.ts";
import { reindexCapabilities } from "./discovery/listing.ts";
import { endAgentSessions } from "./end-agent-sessions.ts";
import { endAllAgentKeys } from "./keys/key-store.ts";
import { findAgent, saveAgent } from "./store.ts";

interface Revocation {
  readonly agentId: string;
  readonly reason: string | undefined;
  readonly caller: Caller;
}

/**
 * Revokes an agent permanently: its tokens, sockets, listing and webhooks, its keys for tasks that are
 * created later, and its unclaimed tasks. Account, history and key chain stay, and the operator can still
 * act for it.
 */
export async function revokeAgent(
  services: Pick<
    Services,
    "storage" | "runtime" | "tokens" | "connections" | "subscriptions" | "router" | "log"
  >,
  { agentId, reason, caller }: Revocation,
): Promise<Answer<Operations["revokeAgent"]>> {
  const { storage, runtime, subscriptions, router, log } = services;
  const now = runtime.now();
  const revoked = await storage.transaction(async (tx) => {
    const agent = await findAgent(tx, agentId);
    if (agent === undefined) return refuse("agent.not_found");
    // A thief of the key may have added one, and the agent could no longer remove it. Agents that were revoked
    // by an earlier version still have theirs.
    const webhooks = await deleteWebhooksByAgent(tx, agentId);
    if (agent.revoked_at !== null) return { ok: true as const, at: agent.revoked_at, webhooks };
    const revokedRow = { ...agent, registered: 0 as const, revoked_at: now };
    await saveAgent(tx, revokedRow);
    await endAllAgentKeys(tx, agentId, now);
    tx.noteChange("tokens", agentId);
    await deleteListing(tx, agentId);
    await reindexCapabilities(tx, revokedRow, undefined);
    await recordAudit(tx, now, caller, { agentId, action: "agent.revoked", detail: reason });
    return { ok: true as const, at: now, webhooks };
  });
  if (!revoked.ok) return revoked;
  endAgentSessions(services, agentId, { reason: "agent revoked" });
  for (const webhook of revoked.webhooks) subscriptions.remove(webhook);
  router.reassignAllOf(agentId);
  log.info("agent.revoked", { agent_id: agentId });
  return { status: 200, body: { agent_id: agentId, revoked: true, revoked_at: revoked.at } };
}
