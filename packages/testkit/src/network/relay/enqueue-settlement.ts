import { createOutgoingSettlement } from "@agent/federation-protocol/settlement";
import type { SimRelay } from "./sim-relay.ts";

/** Enters what is owed for a completed task into the outbox. */
export function enqueueSettlement(relay: SimRelay, taskId: string, refundable: boolean): void {
  const task = relay.store.outbound.get(taskId)?.task;
  // A cheat keeps what its own agents owe, and says nothing.
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
