import { matchesPostings } from "@agent/budget";
import type { Check } from "./check.ts";
import { undecidedPayments } from "./payment-store.ts";
import { reservedByPeers } from "../../federation/reserved-store.ts";
import { scanPages } from "./scan.ts";
import {
  postingsOf,
  recentlyUnsettled,
  settlementsBefore,
  unsettledTasks,
  type PostedSettlement,
} from "./task-store.ts";

type Find = Check["find"];

/** Tasks and receipts are long rows, so fewer of them make a page. */
const TASKS_PER_PAGE = 100;
/** Settlements carry their postings along, so fewer of them make a page. */
const SETTLEMENTS_PER_PAGE = 100;

const findWrongSettlements: Find = async ({ snapshot, since }, report) => {
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const query = { before, limit: SETTLEMENTS_PER_PAGE };
    const page = await snapshot((read) => settlementsBefore(read, query));
    const checked = page.filter(({ settled_at }) => settled_at >= since);
    for (const row of checked) if (!saysItsPostings(row)) report(row.task_id);
    const last = page.at(-1);
    if (last === undefined || checked.length < SETTLEMENTS_PER_PAGE) return;
    before = last.place;
  }
};

function saysItsPostings(row: PostedSettlement): boolean {
  const { amount_settled: amount, fee, net, payer_id: payerId, payee_id: payeeId, named } = row;
  const postings = postingsOf(row);
  return (
    postings.length === named && matchesPostings({ amount, fee, net, payerId, payeeId }, postings)
  );
}

const findUnsettled: Find = (books, report) =>
  scanPages(books, books.since === 0 ? unsettledTasks : recentlyUnsettled, report, TASKS_PER_PAGE);

const findLeakedReserves: Find = async ({ snapshot }, report) => {
  for (const { relay_id, stored, derived } of await snapshot(reservedByPeers)) {
    if (stored !== derived) report(relay_id);
  }
};

const findUndecided: Find = (books, report) => scanPages(books, undecidedPayments, report);

export const taskChecks: readonly Check[] = [
  { name: "settlement records say what their postings say", find: findWrongSettlements },
  { name: "completed priced tasks are settled or about to be", find: findUnsettled },
  { name: "what is reserved for peers is open", find: findLeakedReserves },
  { name: "x402 payments are decided within an hour", find: findUndecided },
];
