import { db, p, prepare } from "../storage/prepared.ts";
import type { Tx } from "../storage/storage.ts";
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
