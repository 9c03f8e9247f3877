import { createOutgoingSettlement } from "@agent/federation-protocol/settlement";
import type { SimRelay } from "./sim-relay.ts";

/** Adds the settlement of a completed task to the outbox. */
export function enqueueSettlement(relay: SimRelay, taskId: string, refundable: boolean): void {
  const task = relay.store.outbound.get(taskId)?.task;
  // A cheating relay does not settle the tasks of its own agents.
  if (relay.withholdsSettlements && refundable) {
    relay.store.withheld.add(taskId);
    return;
  }
  if (task?.state !== "completed" || task.receiptHash === null) return;
  const settlementId = relay.newId();
  const terms = { settlementId, now: relay.now, refundable };
  relay.store.outbox.set(
    taskId,
    createOutgoingSettlement({ ...task, receiptHash: task.receiptHash }, terms),
  );
}
