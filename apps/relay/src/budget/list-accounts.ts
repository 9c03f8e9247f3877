import { asMicro, fromMicro } from "@agent/budget";
import type { AccountSummary } from "@agent/wire";
import { answerPage, type PageQuery } from "../http/page.ts";
import type { Services } from "../services.ts";
import { cardHeldOf } from "./card-lots.ts";
import { accountsAfter, type ListedAccount } from "./account-store.ts";

/** Older relays took any text as the id of an account, so its cursor may be any text. */
const anyTextUp = { form: /^.+$/su, start: "", keyFrom: String };

/** The accounts of agents, by agent id. */
export async function listAccounts(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  query: PageQuery,
) {
  const now = runtime.now();
  return answerPage(query, {
    order: anyTextUp,
    find: (after, limit) => accountsAfter(storage.read, { after, limit }),
    keyOf: ({ agent_id }) => agent_id,
    show: (rows) => ({ accounts: rows.map((row) => summaryOf(row, now)) }),
  });
}

function summaryOf(row: ListedAccount, now: number): AccountSummary {
  return {
    agent_id: row.agent_id,
    balance: dollars(row.balance),
    held: dollars(row.held),
    pending_withdrawals: dollars(row.pending_withdrawals),
    card_held: dollars(cardHeldOf(row, now)),
    agent_known: row.agent_known === 1,
  };
}

const dollars = (micro: number) => fromMicro(asMicro(micro));
