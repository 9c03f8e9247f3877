import type { Refusal } from "@agent/wire";
import { recordAudit } from "../../audit/record-audit.ts";
import type { Caller } from "../../identity/caller.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import { endAgentKey } from "./key-store.ts";
import { listOtherBindings } from "./key-proof-store.ts";
import { deleteListing } from "../discovery/listing-store.ts";
import { reindexCapabilities } from "../discovery/listing.ts";
import { endAgentSessions } from "../end-agent-sessions.ts";
import { checkKeyNotInUse } from "./check-key.ts";
import { saveProvenKey } from "./save-proven-key.ts";
import { findAgent, saveAgent } from "../store.ts";

export interface KeyProof {
  readonly agent_id: string;
  readonly public_key: string;
  readonly now: number;
  readonly caller: Caller;
}

/**
 * Records that the holder of a key has proven it under an agent's id. Every other agent with the same key
 * has not proven it and loses it (docs/decisions.md, 3); `displaced` names these agents. Refused with
 * `agent.key_in_use` while the key is in force under another id that has proven it.
 */
export async function recordKeyProof(
  tx: Tx,
  { agent_id, public_key, now, caller }: KeyProof,
): Promise<
  { readonly ok: true; readonly displaced: readonly string[] } | Refusal<"agent.key_in_use">
> {
  const binding = { agent_id, public_key };
  const inUse = await checkKeyNotInUse(tx, binding);
  if (inUse !== undefined) return inUse;
  await saveProvenKey(tx, { ...binding, proven_at: now });
  const displaced = await listOtherBindings(tx, binding);
  for (const other of displaced) {
    await displaceAgentKey(tx, { agent_id: other, public_key, now, caller });
  }
  return { ok: true, displaced };
}

/** Ends an unproven binding: the agent is no longer offered, but its account and history stay. */
export async function displaceAgentKey(
  tx: Tx,
  { agent_id, public_key, now, caller }: KeyProof,
): Promise<void> {
  const agent = await findAgent(tx, agent_id);
  await endAgentKey(tx, { agent_id, public_key, now });
  tx.noteChange("tokens", agent_id);
  if (agent?.public_key === public_key) {
    const without = { ...agent, public_key: null, registered: 0 as const };
    await saveAgent(tx, without);
    await deleteListing(tx, agent_id);
    await reindexCapabilities(tx, without, undefined);
  }
  await recordAudit(tx, now, caller, {
    agentId: agent_id,
    action: "key.displaced",
    detail: public_key,
  });
}

/** Revokes the verified tokens and closes the sockets of agents that have lost their key. */
export function endDisplacedSessions(
  services: Pick<Services, "tokens" | "connections">,
  displaced: readonly string[],
): void {
  for (const agentId of displaced) endAgentSessions(services, agentId, { reason: "key displaced" });
}
