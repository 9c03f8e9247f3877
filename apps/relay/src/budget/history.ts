import { asMicro, fromMicro, type TransactionType } from "@agent/budget";
import { limits, type Answer, type Operations, type Transaction } from "@agent/wire";
import { numberDown, answerPage, textDown, type PageQuery } from "../http/page.ts";
import type { Services } from "../services.ts";
import type { PostingRow } from "../storage/tables/budget.ts";
import { cardHeldOf } from "./card-lots.ts";
import { accountFor } from "./post.ts";
import { signedSettlement } from "./signed-settlement.ts";
import { findAccount, postingsOf, settlementsOf } from "./store.ts";

type Reading = Pick<Services, "storage" | "identity" | "runtime">;

/** The balance record with its newest transactions; an agent without an account has zero and none. */
export async function getBalance(
  { storage, identity, runtime }: Reading,
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
      card_held: dollars(account === undefined ? 0 : cardHeldOf(account, runtime.now())),
      transactions: rows.map((row) => transactionOf(row, agentId)),
    },
  };
}

export async function listTransactions(
  { storage, identity }: Reading,
  agentId: string,
  query: PageQuery,
): Promise<Answer<Operations["listTransactions"]>> {
  const account = accountFor(agentId, identity.relayId);
  return answerPage(query, {
    order: numberDown,
    find: (before, limit) => postingsOf(storage.read, { account, before, limit }),
    keyOf: ({ sequence }) => sequence,
    show: (rows) => ({ transactions: rows.map((row) => transactionOf(row, agentId)) }),
  });
}

export async function listSettlements(
  { storage, identity }: Reading,
  agentId: string,
  query: PageQuery,
): Promise<Answer<Operations["listSettlements"]>> {
  return answerPage(query, {
    order: textDown,
    find: (before, limit) => settlementsOf(storage.read, { agent_id: agentId, before, limit }),
    keyOf: ({ settlement_id }) => settlement_id,
    show: (rows) => ({ settlements: rows.map((row) => signedSettlement(row, identity)) }),
  });
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
