import { asMicro, fromMicro } from "@agent/budget";
import type { AccountSummary } from "@agent/wire";
import { answerPage, type PageQuery } from "../http/page.ts";
import type { Services } from "../services.ts";
import { accountsAfter, type ListedAccount } from "./account-store.ts";

/** Older relays took any text as the id of an account, so its cursor may be any text. */
const anyTextUp = { form: /^.+$/su, start: "", keyFrom: String };

/** The accounts of agents, by agent id. */
export async function listAccounts({ storage }: Pick<Services, "storage">, query: PageQuery) {
  return answerPage(query, {
    order: anyTextUp,
    find: (after, limit) => accountsAfter(storage.read, { after, limit }),
    keyOf: ({ agent_id }) => agent_id,
    show: (rows) => ({ accounts: rows.map(summaryOf) }),
  });
}

function summaryOf({ agent_id, agent_known, ...amounts }: ListedAccount): AccountSummary {
  return {
    agent_id,
    balance: dollars(amounts.balance),
    held: dollars(amounts.held),
    pending_withdrawals: dollars(amounts.pending_withdrawals),
    agent_known: agent_known === 1,
  };
}

const dollars = (micro: number) => fromMicro(asMicro(micro));
