import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { X402PaymentRow } from "../storage/tables/payments.ts";
import { UNDECIDED_AFTER_MS } from "./undecided-after.ts";

const byProof = prepare<{ proof_hash: string }>()(
  db.selectFrom("x402_payments").selectAll().where("proof_hash", "=", p("proof_hash")),
);

export function findPayment(read: Reader, proof_hash: string): Promise<X402PaymentRow | undefined> {
  return read.get(byProof, { proof_hash });
}

export type NewPayment = Omit<
  X402PaymentRow,
  "state" | "tx_hash" | "reason" | "settled_at" | "task_id"
>;

const begin = prepare<NewPayment>()(
  db
    .insertInto("x402_payments")
    .values({
      proof_hash: p("proof_hash"),
      payer_id: p("payer_id"),
      wallet: p("wallet"),
      amount: p("amount"),
      payload: p("payload"),
      requirements: p("requirements"),
      state: "settling",
      tx_hash: null,
      task_id: null,
      reason: null,
      created_at: p("created_at"),
      settled_at: null,
    })
    // What the facilitator refused has moved nothing, and may be tried again.
    .onConflict((conflict) =>
      conflict
        .column("proof_hash")
        .doUpdateSet({
          payer_id: p("payer_id"),
          amount: p("amount"),
          payload: p("payload"),
          requirements: p("requirements"),
          state: "settling",
          reason: null,
          created_at: p("created_at"),
        })
        .where("x402_payments.state", "=", "failed"),
    ),
);

/** Takes a proof before anybody is asked to settle it; false when somebody has it. */
export async function beginPayment(tx: Tx, payment: NewPayment): Promise<boolean> {
  return (await tx.run(begin, payment)) === 1;
}

export type PaymentEnd = Pick<
  X402PaymentRow,
  "proof_hash" | "state" | "tx_hash" | "reason" | "settled_at"
>;

const end = prepare<PaymentEnd>()(
  db
    .updateTable("x402_payments")
    .set({
      state: p("state"),
      tx_hash: p("tx_hash"),
      reason: p("reason"),
      settled_at: p("settled_at"),
    })
    .where("proof_hash", "=", p("proof_hash"))
    .where("state", "=", "settling"),
);

/** Notes how a payment ended; false when that is known already. */
export async function endPayment(tx: Tx, payment: PaymentEnd): Promise<boolean> {
  return (await tx.run(end, payment)) === 1;
}

type Resolution = Pick<PaymentEnd, "proof_hash" | "state" | "reason" | "settled_at">;

const resolve = prepare<Resolution & { readonly asked_until: number }>()(
  db
    .updateTable("x402_payments")
    .set({ state: p("state"), reason: p("reason"), settled_at: p("settled_at") })
    .where("proof_hash", "=", p("proof_hash"))
    .where(
      sql<boolean>`(state = 'undecided'
        or (state = 'settling' and created_at <= ${p("asked_until")}))`,
    )
    .returningAll(),
);

/** Ends an undecided payment; undefined when it is none, so that it is credited once. */
export function resolveUndecided(
  tx: Tx,
  payment: Resolution,
  now: number,
): Promise<X402PaymentRow | undefined> {
  return tx.get(resolve, { ...payment, asked_until: now - UNDECIDED_AFTER_MS });
}

const unfinished = prepare<{ until: number; limit: number }>()(
  db
    .selectFrom("x402_payments")
    .selectAll()
    .where("state", "=", "settling")
    .where("created_at", "<=", p("until"))
    .orderBy("created_at")
    .limit(p("limit")),
);

/** Payments of which nobody knows how they ended, oldest first. */
export function unfinishedPayments(
  read: Reader,
  query: { until: number; limit: number },
): Promise<X402PaymentRow[]> {
  return read.all(unfinished, query);
}

const nameTask = prepare<{ proof_hash: string; task_id: string }>()(
  db
    .updateTable("x402_payments")
    .set({ task_id: p("task_id") })
    .where("proof_hash", "=", p("proof_hash"))
    .where("task_id", "is", null),
);

const ofTask = prepare<{ task_id: string }>()(
  sql<{ txHash: string; network: string }>`
    select tx_hash as "txHash", requirements ->> '$.network' as network from x402_payments
    where task_id = ${p("task_id")} and state = 'settled'`,
);

/** The payment that a task came with, for the relay that is paid for it. */
export function findPaymentOfTask(
  read: Reader,
  task_id: string,
): Promise<{ txHash: string; network: string } | undefined> {
  return read.get(ofTask, { task_id });
}

/** Notes the task that a payment came with. */
export async function linkTask(
  tx: Tx,
  link: { proof_hash: string; task_id: string },
): Promise<void> {
  await tx.run(nameTask, link);
}
