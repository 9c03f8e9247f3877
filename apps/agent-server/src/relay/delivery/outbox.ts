import type { ExecutionReceipt } from "@agent/receipts";
import type { SignedWork } from "../../execution/sign-work.ts";
import type { DeliverWork } from "../../execution/work.ts";
import type { Runtime } from "../../runtime.ts";
import { createPauses } from "./pauses.ts";
import { postUntilDecided, type Document } from "./post-until-decided.ts";
import type { ReceiptSender } from "./receipt-sender.ts";
import type { PendingReceipt, ReceiptStore } from "./receipt-store.ts";

export interface Outbox {
  /**
   * Posts the receipt, and its ledger before it, until the relay accepts them or refuses them for good, also
   * after a restart of the agent. With too many deliveries under way there is no ledger.
   */
  readonly deliver: DeliverWork;
  /** Resumes the deliveries that the last run of the agent left. */
  readonly resume: (left: readonly PendingReceipt[]) => void;
  /** Finds the receipt of a relay task that is not delivered yet. */
  readonly findReceipt: (taskId: string) => ExecutionReceipt | undefined;
  /** Ends the waits for an unreachable relay, because it is reachable again. */
  readonly flush: () => void;
  /** Continues for at most `graceMs`; remaining receipts are sent after the next start. */
  stop(graceMs: number): Promise<void>;
  readonly size: number;
}

interface Delivery {
  readonly pendingReceipt: PendingReceipt;
  /** Resolves after the first attempt to post the ledger, at once without one. */
  readonly ledgerTried: Promise<void>;
  done: Promise<void>;
}

/** Ledgers may arrive for long faster than the relay takes them, and each is in memory until then. */
const MAX_DELIVERIES_WITH_LEDGER = 1_000;

interface OutboxParts {
  readonly sender: Pick<ReceiptSender, "post" | "postLedger">;
  readonly store: ReceiptStore;
  readonly runtime: Runtime;
}

/** Creates the outbox of receipts for the relay, with one sequence of attempts per task. */
export function createOutbox({ sender, store, runtime }: OutboxParts): Outbox {
  const pending = new Map<string, Delivery>();
  const pauses = createPauses(runtime);
  let stopped = false;

  function startDelivery(
    pendingReceipt: PendingReceipt,
    { dueAt, saved }: { dueAt?: number | undefined; saved: Promise<void> },
  ): Delivery {
    const { task_id: taskId } = pendingReceipt.receipt;
    const { promise: ledgerTried, resolve: onLedgerTried } = Promise.withResolvers<void>();
    if (pendingReceipt.ledger === undefined) onLedgerTried();
    const delivery: Delivery = { pendingReceipt, ledgerTried, done: Promise.resolve() };
    pending.set(taskId, delivery);
    const documents = listDocuments(pendingReceipt, { sender, dueAt, onLedgerTried });
    delivery.done = deliverDocuments(documents, { taskId, saved })
      .catch((cause: unknown) => {
        runtime.log("error", "receipt.failed", { correlationId: taskId, cause: String(cause) });
      })
      .finally(() => {
        onLedgerTried();
        pending.delete(taskId);
      });
    return delivery;
  }

  async function deliverDocuments(
    documents: readonly Document[],
    { taskId, saved }: { taskId: string; saved: Promise<void> },
  ): Promise<void> {
    // Disk and relay do not wait for each other: the first to finish makes the receipt safe.
    const saving = saved.catch((cause: unknown) => {
      runtime.log("error", "receipt.not_kept", { correlationId: taskId, cause: String(cause) });
    });
    const isFinished = await postUntilDecided(documents, {
      taskId,
      pauses,
      isStopped: () => stopped,
      runtime,
    });
    await saving;
    if (isFinished) await store.delete(taskId);
  }

  function withoutLedgerIfCrowded(work: SignedWork): SignedWork {
    const { receipt, ledger } = work;
    if (ledger === undefined || pending.size < MAX_DELIVERIES_WITH_LEDGER) return work;
    runtime.log("warn", "ledger.left_out", { correlationId: receipt.task_id });
    return { receipt };
  }

  return {
    async deliver(work, targetAgentId) {
      const underWay = pending.get(work.receipt.task_id);
      if (underWay !== undefined) return underWay.ledgerTried;
      const { dueAt, ...documents } = work;
      const pendingReceipt = { ...withoutLedgerIfCrowded(documents), targetAgentId };
      return startDelivery(pendingReceipt, { dueAt, saved: store.save(pendingReceipt) })
        .ledgerTried;
    },
    resume(left) {
      for (const pendingReceipt of left)
        startDelivery(pendingReceipt, { saved: Promise.resolve() });
    },
    findReceipt: (taskId) => pending.get(taskId)?.pendingReceipt.receipt,
    flush: () => pauses.end("unreachable"),
    async stop(graceMs) {
      const cancel = runtime.schedule(graceMs, () => {
        stopped = true;
        pauses.end("all");
      });
      await Promise.allSettled([...pending.values()].map(({ done }) => done));
      cancel();
    },
    get size() {
      return pending.size;
    },
  };
}

/** The ledger is first, because a settlement names the one that is stored when the receipt arrives. */
function listDocuments(
  { receipt, ledger, targetAgentId }: PendingReceipt,
  {
    sender,
    dueAt,
    onLedgerTried,
  }: Pick<OutboxParts, "sender"> & { dueAt: number | undefined; onLedgerTried: () => void },
): readonly Document[] {
  const post = () => sender.post(receipt, targetAgentId);
  const document: Document = { name: "receipt", post };
  if (ledger === undefined) return [document];
  const postLedger = () => sender.postLedger(ledger, dueAt).finally(onLedgerTried);
  return [{ name: "ledger", post: postLedger }, document];
}
