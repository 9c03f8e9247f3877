import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { WithdrawalRow } from "../storage/tables/budget.ts";

const add = prepare<WithdrawalRow>()(
  db.insertInto("withdrawals").values({
    withdrawal_id: p("withdrawal_id"),
    agent_id: p("agent_id"),
    amount: p("amount"),
    destination: p("destination"),
    status: p("status"),
    created_at: p("created_at"),
    resolved_at: p("resolved_at"),
    payout_reference: p("payout_reference"),
    reason: p("reason"),
  }),
);

export async function insertWithdrawal(tx: Tx, withdrawal: WithdrawalRow): Promise<void> {
  await tx.run(add, withdrawal);
}

const byId = prepare<{ withdrawal_id: string }>()(
  db.selectFrom("withdrawals").selectAll().where("withdrawal_id", "=", p("withdrawal_id")),
);

export function findWithdrawal(
  read: Reader,
  withdrawal_id: string,
): Promise<WithdrawalRow | undefined> {
  return read.get(byId, { withdrawal_id });
}

type Resolution = Pick<
  WithdrawalRow,
  "withdrawal_id" | "status" | "resolved_at" | "payout_reference" | "reason"
>;

const resolve = prepare<Resolution>()(
  db
    .updateTable("withdrawals")
    .set({
      status: p("status"),
      resolved_at: p("resolved_at"),
      payout_reference: p("payout_reference"),
      reason: p("reason"),
    })
    .where("withdrawal_id", "=", p("withdrawal_id"))
    .where("status", "=", "pending")
    .returningAll(),
);

/** Ends a pending withdrawal; undefined when it is none, so that it is paid or returned once. */
export function resolvePending(tx: Tx, resolution: Resolution): Promise<WithdrawalRow | undefined> {
  return tx.get(resolve, resolution);
}

interface WithdrawalQuery {
  readonly before: string;
  readonly limit: number;
}

const ofAgent = prepare<WithdrawalQuery & { agent_id: string }>()(
  db
    .selectFrom("withdrawals")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("withdrawal_id", "<", p("before"))
    .orderBy("withdrawal_id", "desc")
    .limit(p("limit")),
);

/** Newest first; `before` is a withdrawal id, which grows with time. */
export function withdrawalsOf(
  read: Reader,
  query: WithdrawalQuery & { agent_id: string },
): Promise<WithdrawalRow[]> {
  return read.all(ofAgent, query);
}

const ofStatus = prepare<WithdrawalQuery & { status: string }>()(
  db
    .selectFrom("withdrawals")
    .selectAll()
    .where("status", "=", p("status"))
    .where("withdrawal_id", "<", p("before"))
    .orderBy("withdrawal_id", "desc")
    .limit(p("limit")),
);

const ofAll = prepare<WithdrawalQuery>()(
  db
    .selectFrom("withdrawals")
    .selectAll()
    .where("withdrawal_id", "<", p("before"))
    .orderBy("withdrawal_id", "desc")
    .limit(p("limit")),
);

/** Everybody's, newest first. */
export function allWithdrawals(
  read: Reader,
  { status, ...query }: WithdrawalQuery & { status: string | undefined },
): Promise<WithdrawalRow[]> {
  return status === undefined ? read.all(ofAll, query) : read.all(ofStatus, { ...query, status });
}

const changePending = prepare<{ account: string; change: number }>()(
  db
    .updateTable("accounts")
    .set({
      pending_withdrawals: sql`pending_withdrawals + cast(${p("change")} as integer)`,
    })
    .where("account", "=", p("account")),
);

/** Counts what an account has on its way out. */
export async function addPendingWithdrawal(
  tx: Tx,
  change: { account: string; change: number },
): Promise<void> {
  await tx.run(changePending, change);
}
