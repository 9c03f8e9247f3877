import type { Caller } from "../identity/caller.ts";
import type { Tx } from "../storage/storage.ts";
import { recordRelayEvent } from "../feed/record-event.ts";
import { insertAuditEntry } from "./store.ts";

/** Actions on an agent that its owner must be able to review. */
export type AuditAction =
  | "agent.deregistered"
  | "agent.registered"
  | "agent.revoked"
  | "approval.requested"
  | "approval.resolved"
  | "credential.revoked"
  | "device.paired"
  | "device.revoked"
  | "key.bound"
  | "key.displaced"
  | "key.rotated"
  | "listing.changed"
  | "task.texts_erased"
  | "tokens.revoked"
  | "webhook.added"
  | "webhook.removed"
  | "withdrawal.completed"
  | "withdrawal.failed"
  | "withdrawal.requested";

export interface AuditRecord {
  readonly agentId: string;
  readonly action: AuditAction;
  /** Ids and counts, never a secret. */
  readonly detail?: string | undefined;
}

/** Records the author of a change to an agent, in the transaction of the change. */
export async function recordAudit(
  tx: Tx,
  now: number,
  caller: Caller,
  { agentId, action, detail }: AuditRecord,
): Promise<void> {
  const isAgent = caller.kind === "agent";
  await insertAuditEntry(tx, {
    agent_id: agentId,
    at: now,
    actor: isAgent ? caller.agentId : caller.kind === "master" ? caller.name : "anonymous",
    device_id: isAgent ? caller.deviceId : null,
    action,
    detail: detail ?? null,
    result: null,
  });
  await recordRelayEvent(
    tx,
    { at: now, type: action },
    { agent_id: agentId, detail: detail ?? null },
  );
}
