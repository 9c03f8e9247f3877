import { isInboundClosed, resumeInbound } from "@agent/federation-protocol/forwarding";
import { saveInbound } from "./forwarding.ts";
import { removePeer, startHandshake } from "./peering.ts";
import type { RelayStore } from "./relay-store.ts";
import { completeWork } from "./results.ts";
import { recordExternalPayment } from "./settlements.ts";
import type { SimRelay } from "./sim-relay.ts";

/** Replaces the relay's state with a backup and freezes the relay. */
export function restoreBackup(relay: SimRelay, backup: RelayStore): void {
  const { truth, relays } = relay.world;
  for (const taskId of backup.differingTasks(relay.store)) truth.lost.add(taskId);
  truth.restored.add(relay.id);
  relay.store = backup;
  relay.incarnation += 1;
  relay.freeze(true);
  // The operator repeats the removals decided since the backup.
  for (const peerId of relays.keys()) {
    if (truth.isRemoved(relay.id, peerId)) removePeer(relay, peerId);
  }
}

/** Resumes the relay. */
export function unfreeze(relay: SimRelay): void {
  if (relay.frozen === null || relay.isDown) return;
  const { faults } = relay.world;
  const { since } = relay.frozen;
  const { now } = relay;
  const pausedMs = faults.countsFrozenTime ? 0 : now - since;
  const restored = relay.frozen.restored && !faults.keepsResultsAfterRestore;
  const wasRestored = relay.frozen.restored;
  relay.resume();
  for (const row of relay.store.inbound.values()) {
    if (isInboundClosed(row.task) || row.task.settlement !== null) continue;
    saveInbound(relay, row, resumeInbound(row.task, { now, pausedMs, restored }));
  }
  if (wasRestored) {
    admitAgain(relay);
    replayAfterRestore(relay);
  }
  relay.tick();
}

/** Admits peers again that the operator had readmitted since the backup. */
function admitAgain(relay: SimRelay): void {
  for (const { relayId, record } of relay.store.peers.values()) {
    const isRemoved = relay.world.truth.isRemoved(relay.id, relayId);
    if (record.removedByOperator && !isRemoved) startHandshake(relay, relayId);
  }
}

/** Lets agents deliver some of the lost receipts again, and the operator record the bank statements again. */
function replayAfterRestore(relay: SimRelay): void {
  const { random, truth } = relay.world;
  for (const { task } of relay.store.inbound.values()) {
    const receipt = relay.delivered.get(task.taskId);
    const isRepeated = receipt !== undefined && random.next() < 0.5;
    if (task.state === "running" && isRepeated) completeWork(relay, task.taskId, receipt);
  }
  for (const payment of truth.payments) {
    if (payment.debtorId === relay.id) {
      recordExternalPayment(relay, payment.creditorId, { ...payment, direction: "paid" });
    }
    if (payment.creditorId === relay.id && payment.recordedAt !== null) {
      recordExternalPayment(relay, payment.debtorId, { ...payment, direction: "received" });
    }
  }
}
