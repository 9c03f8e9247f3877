import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { CardCheckoutRow } from "../storage/tables/payments.ts";

const add = prepare<Pick<CardCheckoutRow, "session_id" | "agent_id" | "asked" | "created_at">>()(
  db
    .insertInto("card_checkouts")
    .values({
      session_id: p("session_id"),
      agent_id: p("agent_id"),
      asked: p("asked"),
      created_at: p("created_at"),
      paid: null,
      credited_at: null,
      payment_id: null,
    })
    // The event can be faster than the answer that names the session.
    .onConflict((conflict) => conflict.doNothing()),
);

export async function insertCheckout(
  tx: Tx,
  checkout: Pick<CardCheckoutRow, "session_id" | "agent_id" | "asked" | "created_at">,
): Promise<void> {
  await tx.run(add, checkout);
}

interface Paid {
  readonly session_id: string;
  readonly agent_id: string;
  readonly paid: number;
  readonly now: number;
}

const pay = prepare<Paid>()(
  db
    .insertInto("card_checkouts")
    .values({
      session_id: p("session_id"),
      agent_id: p("agent_id"),
      asked: null,
      paid: p("paid"),
      created_at: p("now"),
      credited_at: p("now"),
      payment_id: null,
    })
    .onConflict((conflict) =>
      conflict
        .column("session_id")
        .doUpdateSet({ paid: p("paid"), credited_at: p("now") })
        .where("card_checkouts.credited_at", "is", null),
    ),
);

/** Takes a session's payment; false when it was credited before. */
export async function takePayment(tx: Tx, payment: Paid): Promise<boolean> {
  return (await tx.run(pay, payment)) === 1;
}

const nameWith = prepare<{ session_id: string; payment_id: string }>()(
  db
    .updateTable("card_checkouts")
    .set({ payment_id: p("payment_id") })
    .where("session_id", "=", p("session_id"))
    .where("payment_id", "is", null),
);

/**
 * Notes by which payment a session was paid. Of one that an older relay credited it is learned when
 * the processor sends its event again.
 */
export async function learnPayment(
  tx: Tx,
  named: { session_id: string; payment_id: string },
): Promise<void> {
  await tx.run(nameWith, named);
}

/** A session whose payment was credited. */
type Credited = Pick<CardCheckoutRow, "session_id" | "agent_id"> & {
  readonly paid: number;
  readonly credited_at: number;
};

const creditedBy = prepare<{ payment_id: string }>()(
  sql<Credited>`
    select session_id, agent_id, paid, credited_at from card_checkouts
    where payment_id = ${p("payment_id")} and credited_at is not null`,
);

export function findCredited(reader: Reader, payment_id: string): Promise<Credited | undefined> {
  return reader.get(creditedBy, { payment_id });
}
