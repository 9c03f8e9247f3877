import type { Runtime } from "../../runtime.ts";
import type { Pauses } from "./pauses.ts";
import { postUntilDecided, type DeliveryFaults, type Document } from "./post-until-decided.ts";
import type { ReceiptSender } from "./receipt-sender.ts";
import type { PendingReceipt, ReceiptStore } from "./receipt-store.ts";

/** A receipt, and its ledger if it has one, on the way to the relay. */
export interface Delivery {
  readonly pendingReceipt: PendingReceipt;
  /** Resolves when the disk has answered, with whether it keeps the work. */
  readonly kept: Promise<boolean>;
  /** Resolves after the first attempt to post the ledger, at once without one. */
  readonly ledgerTried: Promise<void>;
  /** Resolves when the relay has decided about the receipt, or the delivery has ended. */
  readonly receiptDecided: Promise<void>;
  /** Resolves when the delivery has ended. */
  readonly ended: Promise<void>;
}

export interface DeliveryParts {
  readonly sender: Pick<ReceiptSender, "post" | "postLedger" | "isTooLate">;
  readonly store: Pick<ReceiptStore, "delete">;
  readonly pauses: Pauses;
  readonly faults: DeliveryFaults;
  /** Ends the attempts to post ledgers. */
  readonly ledgerSignal: AbortSignal;
  readonly isStopped: () => boolean;
  readonly runtime: Runtime;
}

/** Starts to post a receipt, and its ledger before it, until the relay has decided about both. */
export function startDelivery(
  pendingReceipt: PendingReceipt,
  { dueAt, saved }: { readonly dueAt?: number | undefined; readonly saved: Promise<void> },
  parts: DeliveryParts,
): Delivery {
  const { runtime } = parts;
  const correlationId = pendingReceipt.receipt.task_id;
  const ledgerTried = Promise.withResolvers<void>();
  const receiptDecided = Promise.withResolvers<void>();
  const kept = saved.then(
    () => true,
    (cause: unknown) => {
      runtime.log("error", "receipt.not_kept", { correlationId, cause: String(cause) });
      return false;
    },
  );
  const progress: Progress = {
    kept,
    dueAt,
    onLedgerTried: ledgerTried.resolve,
    onReceiptDecided: receiptDecided.resolve,
  };
  const ended = deliver(pendingReceipt, progress, parts)
    .catch((cause: unknown) => {
      runtime.log("error", "receipt.failed", { correlationId, cause: String(cause) });
    })
    .finally(() => {
      ledgerTried.resolve();
      receiptDecided.resolve();
    });
  return {
    pendingReceipt,
    kept,
    ledgerTried: ledgerTried.promise,
    receiptDecided: receiptDecided.promise,
    ended,
  };
}

interface Progress {
  readonly kept: Promise<boolean>;
  readonly dueAt: number | undefined;
  readonly onLedgerTried: () => void;
  readonly onReceiptDecided: () => void;
}

async function deliver(
  pendingReceipt: PendingReceipt,
  progress: Progress,
  parts: DeliveryParts,
): Promise<void> {
  const { task_id: taskId } = pendingReceipt.receipt;
  const documents = await listDocuments(pendingReceipt, progress, parts);
  const isFinished = await postUntilDecided(documents, { ...parts, taskId });
  await progress.kept;
  if (isFinished) await parts.store.delete(taskId);
}

/**
 * The ledger is sent first, because a settlement names the ledger that is stored when the receipt arrives.
 * It is sent only once the disk holds it with its receipt: a relay keeps the first ledger of a task, and an
 * agent killed earlier would redo the task and sign a different one. A receipt does not wait for the disk,
 * because it is safe as soon as either the disk or the relay has it.
 */
async function listDocuments(
  { receipt, ledger, targetAgentId }: PendingReceipt,
  { kept, dueAt, onLedgerTried, onReceiptDecided: onDecided }: Progress,
  { sender, ledgerSignal: signal, runtime }: DeliveryParts,
): Promise<readonly Document[]> {
  const post = () => sender.post(receipt, targetAgentId);
  const isTooLate = () => sender.isTooLate(receipt, targetAgentId);
  const document: Document = { name: "receipt", post, isTooLate, onDecided };
  if (ledger !== undefined && (await kept)) {
    const postLedger = () => sender.postLedger(ledger, { dueAt, signal }).finally(onLedgerTried);
    return [{ name: "ledger", post: postLedger }, document];
  }
  if (ledger !== undefined) {
    runtime.log("warn", "ledger.left_out", { correlationId: receipt.task_id });
  }
  onLedgerTried();
  return [document];
}
