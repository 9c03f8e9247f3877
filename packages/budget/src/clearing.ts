import { accountOf, FEES, WORLD, type Account } from "./account.ts";
import { negate, requireNotNegative, type Micro } from "./money.ts";
import type { Posting, TransactionType } from "./posting.ts";

/**
 * A middle relay was paid for a task: its own fee leaves the hold, the rest stays there for the next
 * relay (specification, "Federation", settlement).
 */
export function passOnFeePostings({
  taskId,
  fee,
}: {
  readonly taskId: string;
  readonly fee: Micro;
}): readonly Posting[] {
  return move("fee", accountOf.held(taskId), FEES, fee);
}

/** The rest of that hold is owed to the next relay, once that one has it on its books. */
export function passOnPostings({ taskId, relayId, amount }: PassedOn): readonly Posting[] {
  return move("settlement_credit", accountOf.held(taskId), accountOf.peer(relayId), amount);
}

/**
 * A middle relay that was paid and cannot pay on keeps the rest for its operator to hand over: whoever
 * paid was served, and a peer's account must not move without that peer.
 */
export function unpassedPostings({
  taskId,
  amount,
}: Omit<PassedOn, "relayId">): readonly Posting[] {
  return move("settlement_credit", accountOf.held(taskId), FEES, amount);
}

/** What relays owe each other was paid outside: `sent` by this relay to the peer, or `received`. */
export function outsidePaymentPostings({
  relayId,
  direction,
  amount,
}: {
  readonly relayId: string;
  readonly direction: "sent" | "received";
  readonly amount: Micro;
}): readonly Posting[] {
  const peer = accountOf.peer(relayId);
  return direction === "sent"
    ? move("withdrawal", peer, WORLD, amount)
    : move("deposit", WORLD, peer, amount);
}

interface PassedOn {
  readonly taskId: string;
  /** The next relay. */
  readonly relayId: string;
  readonly amount: Micro;
}

function move(
  type: TransactionType,
  from: Account,
  to: Account,
  amount: Micro,
): readonly Posting[] {
  if (requireNotNegative(amount) === 0) return [];
  return [
    { account: from, type, amount: negate(amount) },
    { account: to, type, amount },
  ];
}
