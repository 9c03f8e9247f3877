import { selectNewerDispute, type CardDispute, type Micro, ZERO } from "@agent/budget";
import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import { largerOf } from "../../storage/queries/fragments.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { CardDisputeRow, CardReversalRow } from "../../storage/tables/payments.ts";

const upsertRefundQuery = compile<{ payment_id: string; refunded: number; now: number }>()(
  queryBuilder
    .insertInto("card_reversals")
    .values({
      ...params("payment_id", "refunded"),
      agent_id: null,
      booked: ZERO,
      created_at: param("now"),
    })
    // Refunds are reported as a sum, so a delayed event reports a smaller one.
    .onConflict((conflict) =>
      conflict.column("payment_id").doUpdateSet({
        refunded: largerOf<Micro>(
          sql.ref("card_reversals.refunded"),
          sql`cast(excluded.refunded as bigint)`,
        ),
      }),
    ),
);

interface PaymentEventTime {
  readonly paymentId: string;
  readonly now: number;
}

/** Records the total refund of a payment. */
export async function recordRefund(
  tx: Tx,
  { paymentId, refunded, now }: PaymentEventTime & { readonly refunded: Micro },
): Promise<void> {
  await tx.run(upsertRefundQuery, { payment_id: paymentId, refunded, now });
}

const disputeById = compile<{ dispute_id: string }>()(
  queryBuilder
    .selectFrom("card_disputes")
    .selectAll()
    .where("dispute_id", "=", param("dispute_id")),
);

const upsertDisputeQuery = compile<CardDisputeRow>()(
  queryBuilder
    .insertInto("card_disputes")
    .values(params("dispute_id", "payment_id", "amount", "is_taken", "is_final", "said_at"))
    .onConflict((conflict) =>
      conflict
        .column("dispute_id")
        .doUpdateSet(params("amount", "is_taken", "is_final", "said_at")),
    ),
);

/** Records the state of a dispute unless a newer one is known. */
export async function recordDispute(
  tx: Tx,
  {
    paymentId,
    disputeId,
    dispute,
    now,
  }: PaymentEventTime & { readonly disputeId: string; readonly dispute: CardDispute },
): Promise<void> {
  const stored = await tx.get(disputeById, { dispute_id: disputeId });
  const newer = stored === undefined ? dispute : selectNewerDispute(toCardDispute(stored), dispute);
  await tx.run(upsertDisputeQuery, {
    dispute_id: disputeId,
    payment_id: paymentId,
    amount: newer.amount,
    is_taken: newer.isTaken ? 1 : 0,
    is_final: newer.isFinal ? 1 : 0,
    said_at: newer.reportedAt,
  });
  await recordRefund(tx, { paymentId, refunded: ZERO, now });
}

const disputesByPayment = compile<{ payment_id: string }>()(
  queryBuilder
    .selectFrom("card_disputes")
    .selectAll()
    .where("payment_id", "=", param("payment_id")),
);

export async function listDisputes(reader: Reader, payment_id: string): Promise<CardDispute[]> {
  return (await reader.all(disputesByPayment, { payment_id })).map(toCardDispute);
}

function toCardDispute({ amount, is_taken, is_final, said_at }: CardDisputeRow): CardDispute {
  const [isTaken, isFinal] = [is_taken === 1, is_final === 1];
  return { amount, isTaken, isFinal, reportedAt: said_at };
}

const reversalByPayment = compile<{ payment_id: string }>()(
  queryBuilder
    .selectFrom("card_reversals")
    .selectAll()
    .where("payment_id", "=", param("payment_id")),
);

export function findReversal(
  reader: Reader,
  payment_id: string,
): Promise<CardReversalRow | undefined> {
  return reader.get(reversalByPayment, { payment_id });
}

interface BookedAmount {
  readonly payment_id: string;
  readonly agent_id: string;
  readonly owed: number;
  readonly before: number;
}

const updateBookedQuery = compile<BookedAmount>()(
  queryBuilder
    .updateTable("card_reversals")
    .set({ booked: param("owed"), agent_id: param("agent_id") })
    .where("payment_id", "=", param("payment_id"))
    .where("booked", "=", param("before")),
);

/** Updates the amount booked for a payment, which must still be `before`. */
export async function updateBookedAmount(tx: Tx, booked: BookedAmount): Promise<void> {
  if ((await tx.run(updateBookedQuery, booked)) === 1) return;
  throw new Error(`payment ${booked.payment_id} was booked by another transaction`);
}
