import { asMicro, computeReversedAmount, toDollars } from "@agent/budget";
import type { Refusal } from "@agent/wire";
import { buildCardReference } from "../../budget/card-reference.ts";
import { creditAccount } from "../../budget/credit-account.ts";
import { reverseDeposit } from "../../budget/transfers/reverse-deposit.ts";
import type { Runtime } from "../../runtime.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import { withdrawFees } from "../../trust/withdraw-fees.ts";
import { findCreditedCheckout } from "./card-store.ts";
import { listDisputes, findReversal, updateBookedAmount } from "./reversal-store.ts";

/** The amount debited from an account, or returned to it when negative, in micro-units. */
export interface AppliedReversal {
  readonly sessionId: string;
  readonly agentId: string;
  readonly amount: number;
  /** The balance after the debit. */
  readonly balance: number | null;
}

/**
 * Applies refunds and disputes of a payment to its account: the difference to the amount
 * booked before is debited, even below 0 if it was spent, or returned.
 */
export async function applyReversal(
  tx: Tx,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  { paymentId, cardHoldMs }: { readonly paymentId: string; readonly cardHoldMs: number },
): Promise<
  | { readonly ok: true; readonly reversed?: AppliedReversal; readonly isWaiting?: boolean }
  | Refusal<"money.balance_limit">
> {
  const reversal = await findReversal(tx, paymentId);
  if (reversal === undefined) return { ok: true };
  const checkout = await findCreditedCheckout(tx, paymentId);
  if (checkout === undefined) return { ok: true, isWaiting: true };
  const { session_id: sessionId, agent_id: agentId, paid, credited_at, release_at } = checkout;
  const owed = computeReversedAmount({
    paid,
    refunded: reversal.refunded,
    disputes: await listDisputes(tx, paymentId),
  });
  const change = owed - reversal.booked;
  if (change === 0) return { ok: true };
  await updateBookedAmount(tx, {
    payment_id: paymentId,
    agent_id: agentId,
    owed,
    before: reversal.booked,
  });
  const reference = buildCardReference(sessionId);
  const releaseAt = release_at ?? credited_at + cardHoldMs;
  if (change > 0) {
    const description = "card payment taken back";
    const debit = { agentId, amount: asMicro(change), reference, description, releaseAt };
    const { balance } = await reverseDeposit(tx, runtime, debit);
    // The relay has paid out the money that the account owes, its own fees included.
    if (balance < 0) await withdrawFees(tx, agentId, Math.min(change, 0 - balance));
    return { ok: true, reversed: { sessionId, agentId, amount: change, balance } };
  }
  const credited = await creditAccount(tx, runtime, {
    agentId,
    amount: asMicro(-change),
    reference,
    description: "card payment given back",
    releaseAt,
  });
  if (!credited.ok) return credited;
  return { ok: true, reversed: { sessionId, agentId, amount: change, balance: null } };
}

/** A negative account is the operator's loss until it is paid, so it is logged separately. */
export function logReversal(log: Services["log"], reversed: AppliedReversal): void {
  const { sessionId: correlationId, agentId: agent_id } = reversed;
  const amount = toDollars(reversed.amount);
  log.warn("card.reversed", { correlationId, agent_id, amount });
  if (reversed.balance === null || reversed.balance >= 0) return;
  const balance = toDollars(reversed.balance);
  log.error("account.overdrawn", { correlationId, agent_id, balance });
}
