import {
  accountOf,
  buildTransfer,
  FEE_ACCOUNT,
  type Micro,
  negate,
  type Posting,
  EXTERNAL_ACCOUNT,
} from "@agent/budget";
import type { SettlementTerms } from "./settlement-terms.ts";

interface PeerTask {
  readonly peerId: string;
  readonly taskId: string;
}

/** Holds the amount that the peer will owe for an accepted task. */
export function buildInboundHold({ peerId, taskId, amount }: PeerTask & { amount: Micro }) {
  return buildTransfer("allocation_hold", accountOf.peer(peerId), accountOf.held(taskId), amount);
}

/** Releases the hold of a task that ended without payment. */
export function buildInboundRelease({ peerId, taskId, amount }: PeerTask & { amount: Micro }) {
  return buildTransfer(
    "allocation_release",
    accountOf.held(taskId),
    accountOf.peer(peerId),
    amount,
  );
}

/**
 * Books the peer's settlement of a task that a local agent executed; the agent gets the amount less the
 * fee. The fee is taken first, because an account spends other money before card money, and card money must
 * go to the agent.
 */
export function buildInboundPayment({ agentId, terms, ...task }: PeerTask & InboundPayment) {
  const source = task.held ? accountOf.held(task.taskId) : accountOf.peer(task.peerId);
  return [
    ...buildTransfer("fee", source, FEE_ACCOUNT, terms.fee),
    ...buildTransfer("settlement_credit", source, accountOf.agent(agentId), terms.net),
  ];
}

interface InboundPayment {
  readonly agentId: string;
  readonly terms: SettlementTerms;
  /** Whether the hold is still open; if not, the peer owes the amount from now on. */
  readonly held: boolean;
}

/**
 * Books the peer's settlement of a task that was forwarded on: the fee is earned, and the rest stays held.
 */
export function buildInboundForwarding({
  terms,
  held,
  ...task
}: PeerTask & Pick<InboundPayment, "terms" | "held">) {
  const hold = held ? [] : buildInboundHold({ ...task, amount: terms.gross });
  return [...hold, ...buildTransfer("fee", accountOf.held(task.taskId), FEE_ACCOUNT, terms.fee)];
}

/**
 * Books the next relay's confirmation at an intermediate relay, which owes it the held amount from
 * now on.
 */
export function buildForwardedPayment({ peerId, taskId, amount }: PeerTask & { amount: Micro }) {
  return buildTransfer("settlement_credit", accountOf.held(taskId), accountOf.peer(peerId), amount);
}

/** Books the peer's confirmation of a settlement: releases the hold and charges the payer. */
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

/** Books an external payment, sent to the peer or received from it. */
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
