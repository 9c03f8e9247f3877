import type { Micro } from "@agent/budget";
import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { CardCheckoutRow } from "../../storage/tables/payments.ts";

const insertCheckoutQuery = compile<
  Pick<CardCheckoutRow, "session_id" | "agent_id" | "asked" | "created_at">
>()(
  queryBuilder
    .insertInto("card_checkouts")
    .values({
      ...params("session_id", "agent_id", "asked", "created_at"),
      paid: null,
      credited_at: null,
      payment_id: null,
      release_at: null,
    })
    // The event can arrive before the answer that names the session.
    .onConflict((conflict) => conflict.doNothing()),
);

export async function insertCheckout(
  tx: Tx,
  checkout: Pick<CardCheckoutRow, "session_id" | "agent_id" | "asked" | "created_at">,
): Promise<void> {
  await tx.run(insertCheckoutQuery, checkout);
}

interface CheckoutDeposit {
  readonly session_id: string;
  readonly agent_id: string;
  readonly now: number;
  readonly release_at: number;
}

const recordDepositQuery = compile<CheckoutDeposit>()(
  queryBuilder
    .insertInto("card_checkouts")
    .values({
      ...params("session_id", "agent_id", "release_at"),
      asked: null,
      paid: null,
      created_at: param("now"),
      credited_at: null,
      payment_id: null,
    })
    .onConflict((conflict) =>
      conflict
        .column("session_id")
        .doUpdateSet(params("release_at"))
        .whereRef("card_checkouts.agent_id", "=", "excluded.agent_id")
        .where("card_checkouts.credited_at", "is", null),
    ),
);

/** Stores the release time of a payment that the operator credited before its event arrived. */
export async function recordCheckoutDeposit(tx: Tx, deposit: CheckoutDeposit): Promise<void> {
  await tx.run(recordDepositQuery, deposit);
}

interface CheckoutPayment extends CheckoutDeposit {
  readonly paid: Micro;
}

const recordPaymentQuery = compile<CheckoutPayment>()(
  queryBuilder
    .insertInto("card_checkouts")
    .values({
      ...params("session_id", "agent_id", "paid", "release_at"),
      asked: null,
      created_at: param("now"),
      credited_at: param("now"),
      payment_id: null,
    })
    .onConflict((conflict) =>
      conflict
        .column("session_id")
        .doUpdateSet({
          ...params("agent_id", "paid"),
          // Of a payment that the operator credited to this account, the money has a release time already.
          release_at: sql<number>`case when card_checkouts.agent_id = excluded.agent_id
            then coalesce(card_checkouts.release_at, excluded.release_at)
            else excluded.release_at end`,
          credited_at: param("now"),
        })
        .where("card_checkouts.credited_at", "is", null),
    ),
);

/** Claims a session's payment; false when it was credited before. */
export async function recordCheckoutPayment(tx: Tx, payment: CheckoutPayment): Promise<boolean> {
  return (await tx.run(recordPaymentQuery, payment)) === 1;
}

const setPaymentIdQuery = compile<{ session_id: string; payment_id: string }>()(
  queryBuilder
    .updateTable("card_checkouts")
    .set(params("payment_id"))
    .where("session_id", "=", param("session_id"))
    .where("payment_id", "is", null),
);

/**
 * Records the payment of a session. For a session that an older version credited it becomes known when
 * the processor sends its event again.
 */
export async function setCheckoutPaymentId(
  tx: Tx,
  named: { session_id: string; payment_id: string },
): Promise<void> {
  await tx.run(setPaymentIdQuery, named);
}

/** A session whose payment was credited. */
type CreditedCheckout = Pick<CardCheckoutRow, "session_id" | "agent_id"> & {
  readonly paid: Micro;
  readonly credited_at: number;
  readonly release_at: number | null;
};

const creditedByPayment = compile<{ payment_id: string }>()(
  sql<CreditedCheckout>`
    select session_id, agent_id, paid, credited_at, release_at from card_checkouts
    where payment_id = ${param("payment_id")} and credited_at is not null`,
);

export function findCreditedCheckout(
  reader: Reader,
  payment_id: string,
): Promise<CreditedCheckout | undefined> {
  return reader.get(creditedByPayment, { payment_id });
}
