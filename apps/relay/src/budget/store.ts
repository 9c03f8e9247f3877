import { queryBuilder, param, params, compile } from "../storage/queries/compiled-query.ts";
import { lockedRows } from "../storage/queries/fragments.ts";
import { inRowForm, pickColumns } from "../storage/queries/row-form.ts";
import { TransactionConflict, type Reader, type Tx } from "../storage/storage.ts";
import type { AccountRow, PostingRow, SettlementRow } from "../storage/tables/budget.ts";
import { KEYED_TABLES } from "../storage/tables/keyed-tables.ts";

const accountByName = inRowForm(
  compile<{ account: string }>()(
    queryBuilder.selectFrom("accounts").selectAll().where("account", "=", param("account")),
  ),
  { kind: "find", table: KEYED_TABLES.accounts },
);

export function findAccount(read: Reader, account: string): Promise<AccountRow | undefined> {
  return read.get(accountByName, { account });
}

const accountToMove = inRowForm(
  compile<{ account: string }>()(
    queryBuilder
      .selectFrom("accounts")
      .selectAll()
      .where("account", "=", param("account"))
      .modifyEnd(lockedRows),
  ),
  { kind: "find", table: KEYED_TABLES.accounts },
);

/** Finds an account that this transaction moves money of, and locks it against other transactions. */
export function findAccountToMove(tx: Tx, account: string): Promise<AccountRow | undefined> {
  return tx.get(accountToMove, { account });
}

const ACCOUNT_COLUMNS = [
  "account",
  "balance",
  "held",
  "pending_withdrawals",
  "sequence",
  "card_lots",
  "last_posted_at",
] as const satisfies readonly (keyof AccountRow)[];

const insertAccountQuery = inRowForm(
  compile<AccountRow>()(
    queryBuilder
      .insertInto("accounts")
      .values(params(...ACCOUNT_COLUMNS))
      .onConflict((conflict) => conflict.doNothing()),
  ),
  {
    kind: "merge",
    table: KEYED_TABLES.accounts,
    rows: (account) => [pickColumns(account, ACCOUNT_COLUMNS)],
  },
);

const MOVED_COLUMNS = ["balance", "held", "sequence", "card_lots", "last_posted_at"] as const;

const updateAccountQuery = inRowForm(
  compile<Omit<AccountRow, "pending_withdrawals"> & { before: number }>()(
    queryBuilder
      .updateTable("accounts")
      .set(params(...MOVED_COLUMNS))
      .where("account", "=", param("account"))
      .where("sequence", "=", param("before")),
  ),
  {
    kind: "update",
    table: KEYED_TABLES.accounts,
    change: (row, { before, ...account }) =>
      row["sequence"] === before ? pickColumns(account, MOVED_COLUMNS) : undefined,
  },
);

/**
 * Writes an account's totals after a movement that found it at sequence `before` (0: not opened
 * yet). The statement holds the guard, because an account that is not there cannot be locked.
 */
export async function saveAccount(tx: Tx, after: AccountRow, before: number): Promise<void> {
  const saved =
    before === 0
      ? await tx.run(insertAccountQuery, after)
      : await tx.run(updateAccountQuery, { ...after, before });
  if (saved !== 1) {
    throw new TransactionConflict(`account ${after.account} was moved by another transaction`);
  }
}

const POSTING_COLUMNS = [
  "account",
  "sequence",
  "transaction_id",
  "type",
  "amount",
  "balance_after",
  "reference_id",
  "description",
  "created_at",
] as const satisfies readonly (keyof PostingRow)[];

const insertPostingQuery = inRowForm(
  compile<PostingRow>()(queryBuilder.insertInto("postings").values(params(...POSTING_COLUMNS))),
  {
    kind: "insert",
    table: "postings",
    row: (posting) => pickColumns(posting, POSTING_COLUMNS),
  },
);

export async function insertPosting(tx: Tx, posting: PostingRow): Promise<void> {
  await tx.run(insertPostingQuery, posting);
}

const postingByPosition = compile<{ account: string; sequence: number }>()(
  queryBuilder
    .selectFrom("postings")
    .selectAll()
    .where("account", "=", param("account"))
    .where("sequence", "=", param("sequence")),
);

export function findPosting(
  read: Reader,
  position: { account: string; sequence: number },
): Promise<PostingRow | undefined> {
  return read.get(postingByPosition, position);
}

const newestPostings = compile<{ account: string; before: number; limit: number }>()(
  queryBuilder
    .selectFrom("postings")
    .selectAll()
    .where("account", "=", param("account"))
    .where("sequence", "<", param("before"))
    .orderBy("sequence", "desc")
    .limit(param("limit")),
);

/** Newest first; `before` is a sequence number. */
export function listPostings(
  read: Reader,
  query: { account: string; before: number; limit: number },
): Promise<PostingRow[]> {
  return read.all(newestPostings, query);
}

const insertReferenceQuery = compile<{ agent_id: string; reference: string }>()(
  queryBuilder
    .insertInto("deposit_references")
    .values(params("agent_id", "reference"))
    .onConflict((conflict) => conflict.doNothing()),
);

/** Claims a deposit's reference; false when the account was credited under it before. */
export async function reserveReference(
  tx: Tx,
  row: { agent_id: string; reference: string },
): Promise<boolean> {
  return (await tx.run(insertReferenceQuery, row)) === 1;
}

/** Named, because a settlement is signed as it is read, and Postgres numbers its rows in one more column. */
const SETTLEMENT_COLUMNS = [
  "task_id",
  "settlement_id",
  "allocation_id",
  "receipt_hash",
  "ledger_hash",
  "amount_settled",
  "fee",
  "net",
  "payer_id",
  "payee_id",
  "status",
  "settled_at",
  "postings",
  "x402_tx_hash",
  "x402_network",
  "relay_key",
  "outcome_hash",
] as const satisfies readonly (keyof SettlementRow)[];

const insertSettlementQuery = inRowForm(
  compile<SettlementRow>()(
    queryBuilder.insertInto("settlements").values(params(...SETTLEMENT_COLUMNS)),
  ),
  {
    kind: "insert",
    table: "settlements",
    row: (settlement) => pickColumns(settlement, SETTLEMENT_COLUMNS),
  },
);

export async function insertSettlement(tx: Tx, settlement: SettlementRow): Promise<void> {
  await tx.run(insertSettlementQuery, settlement);
}

const settlementByTask = compile<{ task_id: string }>()(
  queryBuilder
    .selectFrom("settlements")
    .select(SETTLEMENT_COLUMNS)
    .where("task_id", "=", param("task_id")),
);

export function findSettlement(read: Reader, task_id: string): Promise<SettlementRow | undefined> {
  return read.get(settlementByTask, { task_id });
}

interface SettlementsQuery {
  readonly agent_id: string;
  readonly before: string;
  readonly limit: number;
}

const settlementPage = queryBuilder
  .selectFrom("settlements")
  .select(SETTLEMENT_COLUMNS)
  .where("settlement_id", "<", param("before"))
  .orderBy("settlement_id", "desc")
  .limit(param("limit"));

/** Each half reads a page of its own index; one condition for both would read and sort the whole history. */
export const settlementsByAgent = compile<SettlementsQuery>()(
  queryBuilder
    .selectFrom(settlementPage.where("payer_id", "=", param("agent_id")).as("paid"))
    .selectAll()
    .unionAll(
      queryBuilder
        .selectFrom(
          settlementPage
            .where("payee_id", "=", param("agent_id"))
            .where("payer_id", "!=", param("agent_id"))
            .as("earned"),
        )
        .selectAll(),
    )
    .orderBy("settlement_id", "desc")
    .limit(param("limit")),
);

/** Newest first; `before` is a settlement id, which grows with time. */
export function listSettlementsByAgent(
  read: Reader,
  query: SettlementsQuery,
): Promise<SettlementRow[]> {
  return read.all(settlementsByAgent, query);
}
