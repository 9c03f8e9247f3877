import { asMicro, newerDispute, type CardDispute, type Micro } from "@agent/budget";
import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { CardDisputeRow, CardReversalRow } from "../storage/tables/payments.ts";

const refund = prepare<{ payment_id: string; refunded: number; now: number }>()(
  db
    .insertInto("card_reversals")
    .values({
      payment_id: p("payment_id"),
      agent_id: null,
      refunded: p("refunded"),
      booked: 0,
      created_at: p("now"),
    })
    // Refunds are told of as their sum, so one that was delayed tells of less.
    .onConflict((conflict) =>
      conflict
        .column("payment_id")
        .doUpdateSet({ refunded: sql`max(refunded, cast(excluded.refunded as integer))` }),
    ),
);

interface Said {
  readonly paymentId: string;
  readonly now: number;
}

/** Notes how much of a payment has been refunded in all. */
export async function noteRefund(
  tx: Tx,
  { paymentId, refunded, now }: Said & { readonly refunded: Micro },
): Promise<void> {
  await tx.run(refund, { payment_id: paymentId, refunded, now });
}

const disputeById = prepare<{ dispute_id: string }>()(
  db.selectFrom("card_disputes").selectAll().where("dispute_id", "=", p("dispute_id")),
);

const putDispute = prepare<CardDisputeRow>()(
  db
    .insertInto("card_disputes")
    .values({
      dispute_id: p("dispute_id"),
      payment_id: p("payment_id"),
      amount: p("amount"),
      is_taken: p("is_taken"),
      is_final: p("is_final"),
      said_at: p("said_at"),
    })
    .onConflict((conflict) =>
      conflict.column("dispute_id").doUpdateSet({
        amount: p("amount"),
        is_taken: p("is_taken"),
        is_final: p("is_final"),
        said_at: p("said_at"),
      }),
    ),
);

/** Notes where a dispute stands, unless something newer is known of it. */
export async function noteDispute(
  tx: Tx,
  {
    paymentId,
    disputeId,
    dispute,
    now,
  }: Said & { readonly disputeId: string; readonly dispute: CardDispute },
): Promise<void> {
  const stored = await tx.get(disputeById, { dispute_id: disputeId });
  const newer = stored === undefined ? dispute : newerDispute(read(stored), dispute);
  await tx.run(putDispute, {
    dispute_id: disputeId,
    payment_id: paymentId,
    amount: newer.amount,
    is_taken: newer.isTaken ? 1 : 0,
    is_final: newer.isFinal ? 1 : 0,
    said_at: newer.saidAt,
  });
  await noteRefund(tx, { paymentId, refunded: asMicro(0), now });
}

const disputesByPayment = prepare<{ payment_id: string }>()(
  db.selectFrom("card_disputes").selectAll().where("payment_id", "=", p("payment_id")),
);

export async function disputesOf(reader: Reader, payment_id: string): Promise<CardDispute[]> {
  return (await reader.all(disputesByPayment, { payment_id })).map(read);
}

function read({ amount, is_taken, is_final, said_at }: CardDisputeRow): CardDispute {
  const [isTaken, isFinal] = [is_taken === 1, is_final === 1];
  return { amount: asMicro(amount), isTaken, isFinal, saidAt: said_at };
}

const reversalByPayment = prepare<{ payment_id: string }>()(
  db.selectFrom("card_reversals").selectAll().where("payment_id", "=", p("payment_id")),
);

export function findReversal(
  reader: Reader,
  payment_id: string,
): Promise<CardReversalRow | undefined> {
  return reader.get(reversalByPayment, { payment_id });
}

interface Booked {
  readonly payment_id: string;
  readonly agent_id: string;
  readonly owed: number;
  readonly before: number;
}

const setBooked = prepare<Booked>()(
  db
    .updateTable("card_reversals")
    .set({ booked: p("owed"), agent_id: p("agent_id") })
    .where("payment_id", "=", p("payment_id"))
    .where("booked", "=", p("before")),
);

/** Notes what is booked for a payment from now on; it was `before` until now. */
export async function putBooked(tx: Tx, booked: Booked): Promise<void> {
  if ((await tx.run(setBooked, booked)) === 1) return;
  throw new Error(`payment ${booked.payment_id} was booked by another transaction`);
}
