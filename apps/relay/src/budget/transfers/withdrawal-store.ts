import type { Micro } from "@agent/budget";
import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { WithdrawalRow } from "../../storage/tables/budget.ts";

const insertWithdrawalQuery = compile<WithdrawalRow>()(
  queryBuilder
    .insertInto("withdrawals")
    .values(
      params(
        "withdrawal_id",
        "agent_id",
        "amount",
        "destination",
        "status",
        "created_at",
        "resolved_at",
        "payout_reference",
        "reason",
      ),
    ),
);

export async function insertWithdrawal(tx: Tx, withdrawal: WithdrawalRow): Promise<void> {
  await tx.run(insertWithdrawalQuery, withdrawal);
}

const withdrawalById = compile<{ withdrawal_id: string }>()(
  queryBuilder
    .selectFrom("withdrawals")
    .selectAll()
    .where("withdrawal_id", "=", param("withdrawal_id")),
);

export function findWithdrawal(
  read: Reader,
  withdrawal_id: string,
): Promise<WithdrawalRow | undefined> {
  return read.get(withdrawalById, { withdrawal_id });
}

type Resolution = Pick<
  WithdrawalRow,
  "withdrawal_id" | "status" | "resolved_at" | "payout_reference" | "reason"
>;

const resolveWithdrawalQuery = compile<Resolution>()(
  queryBuilder
    .updateTable("withdrawals")
    .set(params("status", "resolved_at", "payout_reference", "reason"))
    .where("withdrawal_id", "=", param("withdrawal_id"))
    .where("status", "=", "pending")
    .returningAll(),
);

/** Resolves a pending withdrawal; undefined when it is not pending, so that it is resolved once. */
export function resolvePendingWithdrawal(
  tx: Tx,
  resolution: Resolution,
): Promise<WithdrawalRow | undefined> {
  return tx.get(resolveWithdrawalQuery, resolution);
}

// The state is no parameter, because its index contains pending withdrawals only.
const pendingOfAgent = compile<{ agent_id: string; limit: number }>()(
  sql<{ pending: number }>`
    select count(*) as pending from (
      select 1 from withdrawals where agent_id = ${param("agent_id")} and status = 'pending'
      limit ${param("limit")}) as counted`,
);

/** Counts an agent's pending withdrawals, up to a limit. */
export async function countPendingWithdrawals(
  read: Reader,
  query: { agent_id: string; limit: number },
): Promise<number> {
  return (await read.get(pendingOfAgent, query))?.pending ?? 0;
}

interface WithdrawalQuery {
  readonly before: string;
  readonly limit: number;
}

const withdrawalsByAgent = compile<WithdrawalQuery & { agent_id: string }>()(
  queryBuilder
    .selectFrom("withdrawals")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("withdrawal_id", "<", param("before"))
    .orderBy("withdrawal_id", "desc")
    .limit(param("limit")),
);

/** Newest first; `before` is a withdrawal id, which grows with time. */
export function listWithdrawalsByAgent(
  read: Reader,
  query: WithdrawalQuery & { agent_id: string },
): Promise<WithdrawalRow[]> {
  return read.all(withdrawalsByAgent, query);
}

export interface ListedWithdrawal extends WithdrawalRow {
  /** The balance of its account now, which is below 0 if the agent owes. */
  readonly balance: number | null;
  /** The time at which its agent was revoked after the request. */
  readonly agent_revoked_at: number | null;
}

const listedWithdrawals = queryBuilder
  .selectFrom("withdrawals")
  .selectAll()
  .select(
    sql<number | null>`(select balance from accounts
      where account = 'agent:' || withdrawals.agent_id)`.as("balance"),
  )
  .select(
    sql<number | null>`(select revoked_at from agents
      where agents.agent_id = withdrawals.agent_id
        and revoked_at >= withdrawals.created_at)`.as("agent_revoked_at"),
  );

const withdrawalPage = listedWithdrawals
  .where("withdrawal_id", "<", param("before"))
  .orderBy("withdrawal_id", "desc")
  .limit(param("limit"));

const withdrawalsByStatus = compile<WithdrawalQuery & { status: string }>()(
  withdrawalPage.where("status", "=", param("status")),
);

const everyWithdrawal = compile<WithdrawalQuery>()(withdrawalPage);

/** Lists all withdrawals, newest first. */
export function listWithdrawalsByStatus(
  read: Reader,
  { status, ...query }: WithdrawalQuery & { status: string | undefined },
): Promise<ListedWithdrawal[]> {
  return status === undefined
    ? read.all(everyWithdrawal, query)
    : read.all(withdrawalsByStatus, { ...query, status });
}

interface LargestQuery {
  readonly status: string;
  readonly below: number;
  readonly after: string;
  readonly limit: number;
}

const largestByStatus = compile<LargestQuery>()(
  listedWithdrawals
    .where("status", "=", param("status"))
    .where("amount", "<=", sql<Micro>`cast(${param("below")} as bigint)`)
    .where(
      sql<boolean>`(amount < cast(${param("below")} as bigint) or withdrawal_id > ${param("after")})`,
    )
    .orderBy("amount", "desc")
    .orderBy("withdrawal_id")
    .limit(param("limit")),
);

/** Lists the withdrawals in a state, the largest first, behind one of `below` with an id. */
export function listLargestWithdrawals(
  read: Reader,
  query: LargestQuery,
): Promise<ListedWithdrawal[]> {
  return read.all(largestByStatus, query);
}

const updatePendingQuery = compile<{ account: string; change: number }>()(
  queryBuilder
    .updateTable("accounts")
    .set({
      pending_withdrawals: sql`pending_withdrawals + cast(${param("change")} as bigint)`,
    })
    .where("account", "=", param("account")),
);

/** Counts the pending withdrawals of an account. */
export async function adjustPendingWithdrawals(
  tx: Tx,
  change: { account: string; change: number },
): Promise<void> {
  await tx.run(updatePendingQuery, change);
}
