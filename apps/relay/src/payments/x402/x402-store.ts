import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { X402PaymentRow } from "../../storage/tables/payments.ts";
import { UNDECIDED_AFTER_MS } from "../undecided-payment.ts";

const paymentByProof = compile<{ proof_hash: string }>()(
  queryBuilder
    .selectFrom("x402_payments")
    .selectAll()
    .where("proof_hash", "=", param("proof_hash")),
);

export function findPayment(read: Reader, proof_hash: string): Promise<X402PaymentRow | undefined> {
  return read.get(paymentByProof, { proof_hash });
}

export type NewPayment = Omit<
  X402PaymentRow,
  "state" | "tx_hash" | "reason" | "settled_at" | "task_id"
>;

const beginPaymentQuery = compile<NewPayment>()(
  queryBuilder
    .insertInto("x402_payments")
    .values({
      ...params(
        "proof_hash",
        "payer_id",
        "wallet",
        "amount",
        "payload",
        "requirements",
        "created_at",
      ),
      state: "settling",
      tx_hash: null,
      task_id: null,
      reason: null,
      settled_at: null,
    })
    // A refused payment has moved nothing and may be tried again.
    .onConflict((conflict) =>
      conflict
        .column("proof_hash")
        .doUpdateSet({
          ...params("payer_id", "amount", "payload", "requirements", "created_at"),
          state: "settling",
          reason: null,
        })
        .where("x402_payments.state", "=", "failed"),
    ),
);

/** Claims a proof before the facilitator settles it; false when it is already claimed. */
export async function beginPayment(tx: Tx, payment: NewPayment): Promise<boolean> {
  return (await tx.run(beginPaymentQuery, payment)) === 1;
}

type RefusedPayment = Pick<X402PaymentRow, "proof_hash" | "state" | "reason">;

const refusePaymentQuery = compile<RefusedPayment>()(
  queryBuilder
    .updateTable("x402_payments")
    .set(params("state", "reason"))
    .where("proof_hash", "=", param("proof_hash"))
    .where("state", "=", "settling"),
);

/** Records that the facilitator refused a payment; false when its outcome is already known. */
export async function refusePayment(tx: Tx, payment: RefusedPayment): Promise<boolean> {
  return (await tx.run(refusePaymentQuery, payment)) === 1;
}

type SettledPayment = Pick<X402PaymentRow, "proof_hash" | "tx_hash" | "settled_at">;

const settlePaymentQuery = compile<SettledPayment>()(
  queryBuilder
    .updateTable("x402_payments")
    .set({ ...params("tx_hash", "settled_at"), state: "settled", reason: null })
    .where("proof_hash", "=", param("proof_hash"))
    .where("state", "!=", "settled"),
);

/**
 * Records that a payment was settled; false if that is already known. This includes a payment that was
 * meanwhile resolved as failed, because its money has arrived.
 */
export async function settlePayment(tx: Tx, payment: SettledPayment): Promise<boolean> {
  return (await tx.run(settlePaymentQuery, payment)) === 1;
}

/**
 * Matches a payment that began long ago, or far ahead of now: then the clock was wrong when it began, and it is not known
 * how long ago that was.
 */
const isFarFromNow = sql<boolean>`abs(created_at - cast(${param("now")} as bigint)) >= ${param("min_age_ms")}`;

type Resolution = Pick<X402PaymentRow, "proof_hash" | "state" | "reason" | "settled_at">;

const resolvePaymentQuery = compile<
  Resolution & { readonly now: number; readonly min_age_ms: number }
>()(
  queryBuilder
    .updateTable("x402_payments")
    .set(params("state", "reason", "settled_at"))
    .where("proof_hash", "=", param("proof_hash"))
    .where(
      sql<boolean>`(state = 'undecided'
        or (state = 'settling' and ${isFarFromNow}))`,
    )
    .returningAll(),
);

/** Resolves an undecided payment; undefined when it is not undecided, so that it is credited once. */
export function resolveUndecidedPayment(
  tx: Tx,
  payment: Resolution,
  now: number,
): Promise<X402PaymentRow | undefined> {
  return tx.get(resolvePaymentQuery, { ...payment, now, min_age_ms: UNDECIDED_AFTER_MS });
}

const unfinishedInOrder = compile<{ now: number; min_age_ms: number; limit: number }>()(
  queryBuilder
    .selectFrom("x402_payments")
    .selectAll()
    .where("state", "=", "settling")
    .where(isFarFromNow)
    .orderBy("created_at")
    .limit(param("limit")),
);

/** Lists payments with an unknown outcome that began `minAgeMs` ago, oldest first. */
export function listUnfinishedPayments(
  read: Reader,
  { now, minAgeMs, limit }: { now: number; minAgeMs: number; limit: number },
): Promise<X402PaymentRow[]> {
  return read.all(unfinishedInOrder, { now, min_age_ms: minAgeMs, limit });
}

const linkTaskQuery = compile<{ proof_hash: string; task_id: string }>()(
  queryBuilder
    .updateTable("x402_payments")
    .set(params("task_id"))
    .where("proof_hash", "=", param("proof_hash"))
    .where("task_id", "is", null),
);

/** Records the task that was submitted with a payment. */
export async function linkPaymentToTask(
  tx: Tx,
  link: { proof_hash: string; task_id: string },
): Promise<void> {
  await tx.run(linkTaskQuery, link);
}
