import type { ExecutionReceipt } from "@agent/receipts";
import { withDeadline } from "../../execution/deadline.ts";
import type { SignedWork } from "../../execution/sign-work.ts";
import type { DeliverWork } from "../../execution/work.ts";
import type { Runtime } from "../../runtime.ts";
import { createDeliveryFaults } from "./post-until-decided.ts";
import { createPauses } from "./pauses.ts";
import type { ReceiptSender } from "./receipt-sender.ts";
import type { PendingReceipt, ReceiptStore } from "./receipt-store.ts";
import { startDelivery, type Delivery } from "./start-delivery.ts";

export interface Outbox {
  /**
   * Posts the receipt, preceded by its ledger, until the relay accepts them or refuses them permanently,
   * even after a restart of the agent. The ledger is omitted if too many deliveries are pending or no disk
   * stores it.
   */
  readonly deliver: DeliverWork;
  /** Resumes the deliveries that the last run of the agent left. */
  readonly resume: (left: readonly PendingReceipt[]) => void;
  /** Finds the receipt of a relay task that is not delivered yet. */
  readonly findReceipt: (taskId: string) => ExecutionReceipt | undefined;
  /** Ends the waits for an unreachable relay, because it is reachable again. */
  readonly flush: () => void;
  /**
   * Waits at most `graceMs` for decisions about receipts. Work that is left then, such as the ledgers of
   * decided receipts, is on disk and is sent after the next start.
   */
  stop(graceMs: number): Promise<void>;
  readonly size: number;
}

/** Ledgers may arrive for long faster than the relay takes them, and each is in memory until then. */
const MAX_DELIVERIES_WITH_LEDGER = 1_000;

/** Creates the outbox of receipts for the relay, with one sequence of attempts per task. */
export function createOutbox({
  sender,
  store,
  runtime,
}: {
  readonly sender: Pick<ReceiptSender, "post" | "postLedger" | "isTooLate">;
  readonly store: ReceiptStore;
  readonly runtime: Runtime;
}): Outbox {
  const pending = new Map<string, Delivery>();
  const pauses = createPauses(runtime);
  const ledgerAttempts = new AbortController();
  let stopped = false;
  const faults = createDeliveryFaults(runtime);
  const ledgerSignal = ledgerAttempts.signal;
  const isStopped = () => stopped;
  const parts = { sender, store, pauses, faults, ledgerSignal, isStopped, runtime };

  function start(
    pendingReceipt: PendingReceipt,
    options: { readonly dueAt?: number | undefined; readonly saved: Promise<void> },
  ): Delivery {
    const { task_id: taskId } = pendingReceipt.receipt;
    const delivery = startDelivery(pendingReceipt, options, parts);
    pending.set(taskId, delivery);
    void delivery.ended.then(() => {
      pending.delete(taskId);
      if (pending.size === 0) faults.receipt.clear();
    });
    return delivery;
  }

  function endAttempts(): void {
    stopped = true;
    ledgerAttempts.abort();
    pauses.end("all");
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
      return start(pendingReceipt, { dueAt, saved: store.save(pendingReceipt) }).ledgerTried;
    },
    resume(left) {
      for (const pendingReceipt of left) start(pendingReceipt, { saved: Promise.resolve() });
    },
    findReceipt: (taskId) => pending.get(taskId)?.pendingReceipt.receipt,
    flush: () => pauses.end("unreachable"),
    async stop(graceMs) {
      const deliveries = [...pending.values()];
      // A ledger that its relay does not answer leaves half of the time to its receipt.
      const cancel = runtime.schedule(graceMs / 2, () => ledgerAttempts.abort());
      await withDeadline({ runtime, ms: graceMs }, async () => {
        await Promise.all(deliveries.map(({ receiptDecided }) => receiptDecided));
        endAttempts();
        await Promise.all(deliveries.map(({ ended }) => ended));
      });
      cancel();
      endAttempts();
      await Promise.all(deliveries.map(({ kept }) => kept));
    },
    get size() {
      return pending.size;
    },
  };
}
