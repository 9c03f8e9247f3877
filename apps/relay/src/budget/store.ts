import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type {
  AccountRow,
  NewSettlement,
  PostingRow,
  SettlementRow,
} from "../storage/tables/budget.ts";

const accountByName = prepare<{ account: string }>()(
  db.selectFrom("accounts").selectAll().where("account", "=", p("account")),
);

export function findAccount(read: Reader, account: string): Promise<AccountRow | undefined> {
  return read.get(accountByName, { account });
}

const addAccount = prepare<AccountRow>()(
  db.insertInto("accounts").values({
    account: p("account"),
    balance: p("balance"),
    held: p("held"),
    pending_withdrawals: p("pending_withdrawals"),
    sequence: p("sequence"),
    card_lots: p("card_lots"),
    last_posted_at: p("last_posted_at"),
  }),
);

const changeAccount = prepare<Omit<AccountRow, "pending_withdrawals"> & { before: number }>()(
  db
    .updateTable("accounts")
    .set({
      balance: p("balance"),
      held: p("held"),
      sequence: p("sequence"),
      card_lots: p("card_lots"),
      last_posted_at: p("last_posted_at"),
    })
    .where("account", "=", p("account"))
    .where("sequence", "=", p("before")),
);

/**
 * Writes what an account holds after a movement that found it at sequence `before` (0: not opened
 * yet). The guard is in the statement: an account that somebody else has moved fails the whole.
 */
export async function writeAccount(tx: Tx, after: AccountRow, before: number): Promise<void> {
  if (before === 0) {
    await tx.run(addAccount, after);
  } else if ((await tx.run(changeAccount, { ...after, before })) !== 1) {
    throw new Error(`account ${after.account} was moved by another transaction`);
  }
}

const addPosting = prepare<PostingRow>()(
  db.insertInto("postings").values({
    account: p("account"),
    sequence: p("sequence"),
    transaction_id: p("transaction_id"),
    type: p("type"),
    amount: p("amount"),
    balance_after: p("balance_after"),
    reference_id: p("reference_id"),
    description: p("description"),
    created_at: p("created_at"),
  }),
);

export async function insertPosting(tx: Tx, posting: PostingRow): Promise<void> {
  await tx.run(addPosting, posting);
}

const postingByPlace = prepare<{ account: string; sequence: number }>()(
  db
    .selectFrom("postings")
    .selectAll()
    .where("account", "=", p("account"))
    .where("sequence", "=", p("sequence")),
);

export function findPosting(
  read: Reader,
  place: { account: string; sequence: number },
): Promise<PostingRow | undefined> {
  return read.get(postingByPlace, place);
}

const newestPostings = prepare<{ account: string; before: number; limit: number }>()(
  db
    .selectFrom("postings")
    .selectAll()
    .where("account", "=", p("account"))
    .where("sequence", "<", p("before"))
    .orderBy("sequence", "desc")
    .limit(p("limit")),
);

/** Newest first; `before` is a sequence number. */
export function postingsOf(
  read: Reader,
  query: { account: string; before: number; limit: number },
): Promise<PostingRow[]> {
  return read.all(newestPostings, query);
}

const addReference = prepare<{ agent_id: string; reference: string }>()(
  db
    .insertInto("deposit_references")
    .values({
      agent_id: p("agent_id"),
      reference: p("reference"),
    })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Takes a deposit's reference; false when the account was credited under it before. */
export async function takeReference(
  tx: Tx,
  row: { agent_id: string; reference: string },
): Promise<boolean> {
  return (await tx.run(addReference, row)) === 1;
}

/** What is known of the payment by x402 that a task came with. */
function paymentOfTask(what: ReturnType<typeof sql>) {
  return sql<string | null>`(select ${what} from x402_payments
    where task_id = ${p("task_id")} and state = 'settled')`;
}

const addSettlement = prepare<Omit<SettlementRow, "relay_key">>()(
  db.insertInto("settlements").values({
    task_id: p("task_id"),
    settlement_id: p("settlement_id"),
    allocation_id: p("allocation_id"),
    receipt_hash: p("receipt_hash"),
    ledger_hash: p("ledger_hash"),
    amount_settled: p("amount_settled"),
    fee: p("fee"),
    net: p("net"),
    payer_id: p("payer_id"),
    payee_id: p("payee_id"),
    status: p("status"),
    settled_at: p("settled_at"),
    postings: p("postings"),
    x402_tx_hash: sql`coalesce(${p("x402_tx_hash")}, ${paymentOfTask(sql`tx_hash`)})`,
    x402_network: sql`coalesce(${p("x402_network")},
      ${paymentOfTask(sql`requirements ->> '$.network'`)})`,
    relay_key: sql`(select count(*) from relay_successions)`,
  }),
);

export async function insertSettlement(
  tx: Tx,
  { x402, ...settlement }: NewSettlement,
): Promise<void> {
  await tx.run(addSettlement, {
    ...settlement,
    x402_tx_hash: x402?.txHash ?? null,
    x402_network: x402?.network ?? null,
  });
}

const settlementByTask = prepare<{ task_id: string }>()(
  db.selectFrom("settlements").selectAll().where("task_id", "=", p("task_id")),
);

export function findSettlement(read: Reader, task_id: string): Promise<SettlementRow | undefined> {
  return read.get(settlementByTask, { task_id });
}

const settlementsByAgent = prepare<{ agent_id: string; before: string; limit: number }>()(
  db
    .selectFrom("settlements")
    .selectAll()
    .where((where) =>
      where.or([where("payer_id", "=", p("agent_id")), where("payee_id", "=", p("agent_id"))]),
    )
    .where("settlement_id", "<", p("before"))
    .orderBy("settlement_id", "desc")
    .limit(p("limit")),
);

/** Newest first; `before` is a settlement id, which grows with time. */
export function settlementsOf(
  read: Reader,
  query: { agent_id: string; before: string; limit: number },
): Promise<SettlementRow[]> {
  return read.all(settlementsByAgent, query);
}
