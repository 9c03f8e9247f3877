import { accountOf, asMicro, fromMicro, reversalPostings, reversedAmount } from "@agent/budget";
import type { Refusal } from "@agent/wire";
import { credit } from "../budget/credit.ts";
import { post } from "../budget/post.ts";
import { findAccount } from "../budget/store.ts";
import type { Runtime } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import { findCredited } from "./card-store.ts";
import { disputesOf, findReversal, putBooked } from "./reversal-store.ts";

/** What was taken from an account, or given back to it when negative, in micro-units. */
export interface Reversed {
  readonly sessionId: string;
  readonly agentId: string;
  readonly amount: number;
  readonly balance: number;
}

/**
 * Brings an account to where refunds and disputes of a payment leave it: the difference to what was
 * booked for that payment before is taken from it, below 0 if it was spent, or given back.
 */
export async function bookReversal(
  tx: Tx,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  { paymentId, cardHoldMs }: { readonly paymentId: string; readonly cardHoldMs: number },
): Promise<
  | { readonly ok: true; readonly reversed?: Reversed; readonly isWaiting?: boolean }
  | Refusal<"money.balance_limit">
> {
  const reversal = await findReversal(tx, paymentId);
  if (reversal === undefined) return { ok: true };
  const checkout = await findCredited(tx, paymentId);
  if (checkout === undefined) return { ok: true, isWaiting: true };
  const { session_id: sessionId, agent_id: agentId, paid, credited_at } = checkout;
  const owed = reversedAmount({
    paid: asMicro(paid),
    refunded: asMicro(reversal.refunded),
    disputes: await disputesOf(tx, paymentId),
  });
  const change = owed - reversal.booked;
  if (change === 0) return { ok: true };
  const entry = { reference: `stripe:${sessionId}`, releaseAt: credited_at + cardHoldMs };
  const posted =
    change > 0
      ? await takeFrom(tx, runtime, agentId, change, entry.reference)
      : await credit(tx, runtime, {
          agentId,
          amount: asMicro(-change),
          description: "card payment given back",
          ...entry,
        });
  if (!posted.ok) return posted;
  await putBooked(tx, { payment_id: paymentId, agent_id: agentId, owed, before: reversal.booked });
  const account = await findAccount(tx, accountOf.agent(agentId));
  const balance = account?.balance ?? 0;
  return { ok: true, reversed: { sessionId, agentId, amount: change, balance } };
}

async function takeFrom(
  tx: Tx,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  agentId: string,
  amount: number,
  reference: string,
): Promise<{ readonly ok: true }> {
  const postings = reversalPostings({ agentId, amount: asMicro(amount) });
  const description = "card payment taken back";
  const posted = await post(tx, runtime, postings, { reference, description });
  // It need not be covered, so anything else is a fault of the program.
  if (!posted.ok) throw new Error(`a card payment cannot be taken back: ${posted.code}`);
  return posted;
}

/** An account below 0 is the operator's loss until it is paid, so it is told apart. */
export function logReversal(log: Services["log"], reversed: Reversed): void {
  const { sessionId: correlationId, agentId: agent_id } = reversed;
  const amount = fromMicro(asMicro(reversed.amount));
  const balance = fromMicro(asMicro(reversed.balance));
  log.warn("card.reversed", { correlationId, agent_id, amount, balance });
  if (balance < 0) log.error("account.overdrawn", { correlationId, agent_id, balance });
}
