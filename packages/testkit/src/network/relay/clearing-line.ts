import { accountOf, asMicro } from "@agent/budget";
import {
  getDefaultedAmount,
  getRefusedAmount,
  getUndecidedAmount,
  isInboundClosed,
  isOutboundOpen,
  getPayable,
} from "@agent/federation-protocol/forwarding";
import {
  type ClearingLine,
  isSettlementResolved,
  type OwnPosition,
  getSettlementPayable,
} from "@agent/federation-protocol/settlement";
import type { SimRelay } from "./sim-relay.ts";

/** Returns a relay's account with a peer: what is owed, reserved and defaulted. */
export function getClearingLine({ store, world }: SimRelay, peerId: string): ClearingLine {
  const { faults } = world;
  let payable = 0;
  for (const { task } of store.outbound.values()) {
    if (task.peerId !== peerId) continue;
    const hasEndedUnpaid = ["void", "failed", "denied"].includes(task.state);
    payable += faults.reservesForEndedTasks && hasEndedUnpaid ? task.terms.net : getPayable(task);
  }
  for (const settlement of store.outbox.values()) {
    if (settlement.peerId === peerId) payable += getSettlementPayable(settlement);
  }
  let defaulted = 0;
  let undecided = 0;
  let refused = 0;
  for (const { task } of store.inbound.values()) {
    if (task.peerId !== peerId) continue;
    if (!faults.omitsDefaults) defaulted += getDefaultedAmount(task);
    undecided += getUndecidedAmount(task);
    refused += getRefusedAmount(task);
  }
  return {
    balance: store.balanceOf(accountOf.peer(peerId)),
    payable: asMicro(payable),
    limit: store.peers.get(peerId)?.limit ?? asMicro(0),
    defaulted: asMicro(defaulted),
    undecided: asMicro(undecided),
    refused: asMicro(refused),
  };
}

/**
 * Returns a relay's debt to a peer by its books, and whether a task or settlement between them is
 * pending.
 */
export function getPosition({ store }: SimRelay, peerId: string): OwnPosition {
  const account = accountOf.peer(peerId);
  const isWith = (row: { readonly peerId: string }) => row.peerId === peerId;
  const underWay =
    [...store.outbound.values()].some(({ task }) => isWith(task) && isOutboundOpen(task)) ||
    [...store.inbound.values()].some(({ task }) => isWith(task) && awaitsMovement(task)) ||
    [...store.outbox.values()].some((row) => isWith(row) && !isSettlementResolved(row));
  const movedAt = store.movedAt.get(account) ?? null;
  return { amount: store.balanceOf(account), underWay, movedAt };
}

/** A default is a debt, not a pending movement. */
function awaitsMovement(task: Parameters<typeof isInboundClosed>[0]): boolean {
  return !isInboundClosed(task) && task.settlement === null && task.hold !== "defaulted";
}
