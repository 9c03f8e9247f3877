import {
  type Account,
  accountOf,
  asMicro,
  FEE_ACCOUNT,
  type Micro,
  negate,
  type Posting,
  type TransactionType,
  EXTERNAL_ACCOUNT,
} from "@agent/budget";
import type { SettlementTerms } from "./settlement-terms.ts";

interface PeerTask {
  readonly peerId: string;
  readonly taskId: string;
}

/** A forwarded task was taken: what the peer will owe for it is held. */
export function buildInboundHold({ peerId, taskId, amount }: PeerTask & { amount: Micro }) {
  return buildTransfer("allocation_hold", accountOf.peer(peerId), accountOf.held(taskId), amount);
}

/** The forwarded task ended without pay: the peer owes nothing for it. */
export function buildInboundRelease({ peerId, taskId, amount }: PeerTask & { amount: Micro }) {
  return buildTransfer(
    "allocation_release",
    accountOf.held(taskId),
    accountOf.peer(peerId),
    amount,
  );
}

/** The peer settled a task of an agent of this relay: the agent has it, less the fee. */
export function buildInboundPayment({ agentId, terms, ...task }: PeerTask & InboundPayment) {
  const source = task.held ? accountOf.held(task.taskId) : accountOf.peer(task.peerId);
  return [
    ...buildTransfer("settlement_credit", source, accountOf.agent(agentId), terms.net),
    ...buildTransfer("fee", source, FEE_ACCOUNT, terms.fee),
  ];
}

interface InboundPayment {
  readonly agentId: string;
  readonly terms: SettlementTerms;
  /** Whether the hold still stands; where it has lapsed the peer comes to owe it now. */
  readonly held: boolean;
}

/** The peer settled a task that went on to another relay: the fee is earned, the rest stays held. */
export function buildInboundForwarding({
  terms,
  held,
  ...task
}: PeerTask & Pick<InboundPayment, "terms" | "held">) {
  const hold = held ? [] : buildInboundHold({ ...task, amount: terms.gross });
  return [...hold, ...buildTransfer("fee", accountOf.held(task.taskId), FEE_ACCOUNT, terms.fee)];
}

/** The next relay confirmed what a relay in the middle passed on: that is owed to it from now on. */
export function buildForwardedPayment({ peerId, taskId, amount }: PeerTask & { amount: Micro }) {
  return buildTransfer("settlement_credit", accountOf.held(taskId), accountOf.peer(peerId), amount);
}

/** The peer confirmed a settlement: the hold is released, and the payer charged. */
export function buildOutboundPayment({
  peerId,
  taskId,
  payerId,
  locked,
  terms,
}: PeerTask & {
  readonly payerId: string;
  readonly locked: Micro;
  readonly terms: SettlementTerms;
}) {
  const payer = accountOf.agent(payerId);
  const paid: readonly Posting[] = [
    { account: payer, type: "settlement_debit", amount: negate(terms.gross) },
    { account: accountOf.peer(peerId), type: "settlement_credit", amount: terms.net },
    { account: FEE_ACCOUNT, type: "fee", amount: terms.fee },
  ];
  return [
    ...buildTransfer("allocation_release", accountOf.held(taskId), payer, locked),
    ...paid.filter(({ amount }) => amount !== 0),
  ];
}

/** A payment outside: this relay paid the peer, or received from it. */
export function buildExternalPayment({
  peerId,
  direction,
  amount,
}: {
  readonly peerId: string;
  readonly direction: "paid" | "received";
  readonly amount: Micro;
}): readonly Posting[] {
  const peer = accountOf.peer(peerId);
  return direction === "paid"
    ? buildTransfer("withdrawal", peer, EXTERNAL_ACCOUNT, amount)
    : buildTransfer("deposit", EXTERNAL_ACCOUNT, peer, amount);
}

function buildTransfer(
  type: TransactionType,
  from: Account,
  to: Account,
  amount: Micro,
): readonly Posting[] {
  // Free tasks and empty fees move nothing, and nothing is written for them.
  if (amount === 0) return [];
  return [
    { account: from, type, amount: negate(amount) },
    { account: to, type, amount: asMicro(amount) },
  ];
}
