import { asMicro, fromMicro, type TransactionType } from "@agent/budget";
import { limits, type Answer, type Operations, type Transaction } from "@agent/wire";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import type { Services } from "../services.ts";
import type { PostingRow } from "../storage/tables/budget.ts";
import { accountFor } from "./post.ts";
import { signedSettlement } from "./signed-settlement.ts";
import { findAccount, postingsOf, settlementsOf } from "./store.ts";

type Reading = Pick<Services, "storage" | "identity">;
type Page = { readonly limit?: number | undefined; readonly cursor?: string | undefined };

/** The balance record with its newest transactions; an agent without an account has zero and none. */
export async function getBalance(
  { storage, identity }: Reading,
  agentId: string,
): Promise<Answer<Operations["getBalance"]>> {
  const name = accountFor(agentId, identity.relayId);
  const account = await findAccount(storage.read, name);
  const rows = await postingsOf(storage.read, {
    account: name,
    before: (account?.sequence ?? 0) + 1,
    limit: limits.pageDefault,
  });
  return {
    status: 200,
    body: {
      agent_id: agentId,
      balance: dollars(account?.balance ?? 0),
      currency: "USD",
      pending_withdrawals: dollars(account?.pending_withdrawals ?? 0),
      pending_allocations: dollars(account?.held ?? 0),
      transactions: rows.map((row) => transactionOf(row, agentId)),
    },
  };
}

export async function listTransactions(
  { storage, identity }: Reading,
  agentId: string,
  page: Page,
): Promise<Answer<Operations["listTransactions"]>> {
  const cursor = decodeCursor(page.cursor, /^\d{1,15}$/);
  if (!cursor.ok) return cursor;
  const limit = page.limit ?? limits.pageDefault;
  const rows = await postingsOf(storage.read, {
    account: accountFor(agentId, identity.relayId),
    before: Number(cursor.value ?? Number.MAX_SAFE_INTEGER),
    limit,
  });
  return {
    status: 200,
    body: {
      transactions: rows.map((row) => transactionOf(row, agentId)),
      next_cursor: encodeCursor(rows, limit, (row) => String(row.sequence)),
    },
  };
}

export async function listSettlements(
  { storage, identity }: Reading,
  agentId: string,
  page: Page,
): Promise<Answer<Operations["listSettlements"]>> {
  const cursor = decodeCursor(page.cursor);
  if (!cursor.ok) return cursor;
  const limit = page.limit ?? limits.pageDefault;
  const rows = await settlementsOf(storage.read, {
    agent_id: agentId,
    // "~" stands above every digit and letter of an id.
    before: cursor.value ?? "~",
    limit,
  });
  return {
    status: 200,
    body: {
      settlements: rows.map((row) => signedSettlement(row, identity)),
      next_cursor: encodeCursor(rows, limit, (row) => row.settlement_id),
    },
  };
}

export function transactionOf(row: PostingRow, agentId: string): Transaction {
  return {
    transaction_id: row.transaction_id,
    agent_id: agentId,
    type: row.type as TransactionType,
    amount: dollars(row.amount),
    balance_after: dollars(row.balance_after),
    reference_id: row.reference_id,
    description: row.description,
    created_at: row.created_at,
  };
}

function dollars(micro: number): number {
  return fromMicro(asMicro(micro));
}
