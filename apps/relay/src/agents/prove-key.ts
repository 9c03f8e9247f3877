import type { Refusal } from "@agent/wire";
import { note } from "../audit/note.ts";
import type { Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import { endKeyOf } from "./key-store.ts";
import { listOtherBindings, putKeyProof } from "./key-proof-store.ts";
import { deleteListing } from "./listing-store.ts";
import { reindex } from "./listing.ts";
import { refuseKeyInUse } from "./refuse-key.ts";
import { findAgent, putAgent } from "./store.ts";

export interface ProvenKey {
  readonly agent_id: string;
  readonly public_key: string;
  readonly now: number;
  readonly caller: Caller;
}

/**
 * Notes that the holder of a key has proven it under an agent's id. Every other agent with the same key
 * has not proven it and loses it (docs/decisions.md, 3); `displaced` names these agents. Refused with
 * `agent.key_in_use` while the key is in force under another id that has proven it.
 */
export async function proveKey(
  tx: Tx,
  { agent_id, public_key, now, caller }: ProvenKey,
): Promise<
  { readonly ok: true; readonly displaced: readonly string[] } | Refusal<"agent.key_in_use">
> {
  const binding = { agent_id, public_key };
  const inUse = await refuseKeyInUse(tx, binding);
  if (inUse !== undefined) return inUse;
  await putKeyProof(tx, { ...binding, proven_at: now });
  const displaced = await listOtherBindings(tx, binding);
  for (const other of displaced) {
    await displaceAgent(tx, { agent_id: other, public_key, now, caller });
  }
  return { ok: true, displaced };
}

/** Ends an unproven binding: the agent is not offered any more, and keeps its account and history. */
export async function displaceAgent(
  tx: Tx,
  { agent_id, public_key, now, caller }: ProvenKey,
): Promise<void> {
  const agent = await findAgent(tx, agent_id);
  await endKeyOf(tx, { agent_id, public_key, now });
  if (agent?.public_key === public_key) {
    const without = { ...agent, public_key: null, registered: 0 as const };
    await putAgent(tx, without);
    await deleteListing(tx, agent_id);
    await reindex(tx, without, undefined);
  }
  await note(tx, now, caller, { agentId: agent_id, action: "key.displaced", detail: public_key });
}

/** Ends what agents were let in by that have lost their key: tokens that were verified, and sockets. */
export function forgetDisplaced(
  { tokens, connections }: Pick<Services, "tokens" | "connections">,
  displaced: readonly string[],
): void {
  for (const agentId of displaced) {
    tokens.forget(agentId);
    for (const connection of connections.of(agentId)) connection.close(4401, "key displaced");
  }
}
