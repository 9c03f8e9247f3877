import type { Caller } from "../identity/caller.ts";
import type { Tx } from "../storage/storage.ts";
import { insertAuditEntry } from "./store.ts";

/** What may be done to an agent that its owner will want to know of. */
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
  /** Ids and counts; nothing secret. */
  readonly detail?: string | undefined;
}

/** Writes down who did what to an agent, in the transaction in which it is done. */
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
  });
}
