import { toDollars, type TransactionType } from "@agent/budget";
import { limits, type Answer, type Operations, type Transaction } from "@agent/wire";
import {
  numberDescending,
  createPageAnswer,
  textDescending,
  type PageQuery,
} from "../../http/paging/page.ts";
import type { Services } from "../../services.ts";
import type { PostingRow } from "../../storage/tables/budget.ts";
import { getCardHeld } from "./card-lots.ts";
import { getTransactionAccount } from "../post-movement.ts";
import { signSettlement } from "../sign-settlement.ts";
import { findAccount, listPostings, listSettlementsByAgent } from "../store.ts";

type HistoryDependencies = Pick<Services, "storage" | "identity" | "runtime">;

/** Returns the balance with its newest transactions; zero and none for an agent without an account. */
export async function getBalance(
  { storage, identity, runtime }: HistoryDependencies,
  agentId: string,
): Promise<Answer<Operations["getBalance"]>> {
  const name = getTransactionAccount(agentId, identity.relayId);
  const account = await findAccount(storage.read, name);
  const rows = await listPostings(storage.read, {
    account: name,
    before: (account?.sequence ?? 0) + 1,
    limit: limits.defaultPageSize,
  });
  return {
    status: 200,
    body: {
      agent_id: agentId,
      balance: toDollars(account?.balance ?? 0),
      currency: "USD",
      pending_withdrawals: toDollars(account?.pending_withdrawals ?? 0),
      pending_allocations: toDollars(account?.held ?? 0),
      card_held: toDollars(account === undefined ? 0 : getCardHeld(account, runtime.now())),
      transactions: rows.map((row) => toTransaction(row, agentId)),
    },
  };
}

export async function listTransactions(
  { storage, identity }: HistoryDependencies,
  agentId: string,
  query: PageQuery,
): Promise<Answer<Operations["listTransactions"]>> {
  const account = getTransactionAccount(agentId, identity.relayId);
  return createPageAnswer(query, {
    order: numberDescending,
    find: (before, limit) => listPostings(storage.read, { account, before, limit }),
    keyOf: ({ sequence }) => sequence,
    show: (rows) => ({ transactions: rows.map((row) => toTransaction(row, agentId)) }),
  });
}

export async function listSettlements(
  { storage, identity }: HistoryDependencies,
  agentId: string,
  query: PageQuery,
): Promise<Answer<Operations["listSettlements"]>> {
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) =>
      listSettlementsByAgent(storage.read, { agent_id: agentId, before, limit }),
    keyOf: ({ settlement_id }) => settlement_id,
    show: (rows) => ({ settlements: rows.map((row) => signSettlement(row, identity)) }),
  });
}

export function toTransaction(row: PostingRow, agentId: string): Transaction {
  return {
    transaction_id: row.transaction_id,
    agent_id: agentId,
    type: row.type as TransactionType,
    amount: toDollars(row.amount),
    balance_after: toDollars(row.balance_after),
    reference_id: row.reference_id,
    description: row.description,
    created_at: row.created_at,
  };
}
