import type { ReceiptStatus } from "@agent/budget";
import type { Tx } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables.ts";
import { levelAfter, UNKNOWN } from "./levels.ts";
import { addToHistory, findTrust, putTrust } from "./store.ts";

export interface Outcome {
  readonly delegatorId: string | null;
  readonly executorId: string;
  readonly outcome: ReceiptStatus;
  /** From submission to receipt by the relay's clock: an executor cannot claim to be faster. */
  readonly latencyMs: number;
  /** Whether the executor earned money: only then do strangers count it. */
  readonly paid: boolean;
  readonly now: number;
}

/**
 * Counts a task in what its delegator knows of its executor. Without a delegator, or when they are
 * one, there is nothing to know; a denied task speaks neither for nor against.
 */
export async function recordOutcome(
  tx: Tx,
  { delegatorId, executorId, outcome, latencyMs, paid, now }: Outcome,
): Promise<TrustRecordRow | undefined> {
  if (delegatorId === null || delegatorId === executorId) return undefined;
  const succeeded = outcome === "completed" ? 1 : 0;
  const failed = outcome === "failed" ? 1 : 0;
  const latency = outcome === "denied" ? 0 : Math.max(0, Math.round(latencyMs));
  const before = await findTrust(tx, delegatorId, executorId);
  const counted = {
    agent_id: delegatorId,
    remote_agent_id: executorId,
    trust_level: before?.trust_level ?? UNKNOWN,
    first_seen_at: before?.first_seen_at ?? now,
    last_seen_at: now,
    interaction_count: (before?.interaction_count ?? 0) + 1,
    successful_tasks: (before?.successful_tasks ?? 0) + succeeded,
    failed_tasks: (before?.failed_tasks ?? 0) + failed,
    paid_tasks: (before?.paid_tasks ?? 0) + (paid ? 1 : 0),
    latency_total_ms: (before?.latency_total_ms ?? 0) + latency,
  };
  const record = { ...counted, trust_level: levelAfter(counted) };
  await putTrust(tx, record);
  if (paid) {
    await addToHistory(tx, { agent_id: executorId, succeeded, failed, latency_ms: latency });
  }
  return record;
}
