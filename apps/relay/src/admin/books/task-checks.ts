import { matchesPostings } from "@agent/budget";
import type { BooksCheck } from "./books-check.ts";
import { wrongInspections } from "./inspection-store.ts";
import { undecidedPayments } from "./payment-store.ts";
import { listPeerReservations } from "../../federation/settlement/reserved-store.ts";
import { scanPages } from "./scan-pages.ts";
import {
  parsePostings,
  recentUnsettledTasks,
  listSettlementsBefore,
  unsettledTasks,
  type PostedSettlement,
} from "./task-store.ts";

type FindViolations = BooksCheck["find"];

/** Tasks and receipts are long rows, so fewer of them make a page. */
const TASKS_PER_PAGE = 100;
/** Settlements are read with their postings, so fewer of them make a page. */
const SETTLEMENTS_PER_PAGE = 100;

const findWrongSettlements: FindViolations = async ({ snapshot, since }, report) => {
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const query = { before, limit: SETTLEMENTS_PER_PAGE };
    const page = await snapshot((read) => listSettlementsBefore(read, query));
    const checked = page.filter(({ settled_at }) => settled_at >= since);
    for (const row of checked) if (!matchesItsPostings(row)) report(row.task_id);
    const last = page.at(-1);
    if (last === undefined || checked.length < SETTLEMENTS_PER_PAGE) return;
    before = last.place;
  }
};

function matchesItsPostings(row: PostedSettlement): boolean {
  const { amount_settled: amount, fee, net, payer_id: payerId, payee_id: payeeId, named } = row;
  const postings = parsePostings(row);
  return (
    postings.length === named && matchesPostings({ amount, fee, net, payerId, payeeId }, postings)
  );
}

const findUnsettledTasks: FindViolations = (books, report) =>
  scanPages(
    books,
    books.since === 0 ? unsettledTasks : recentUnsettledTasks,
    report,
    TASKS_PER_PAGE,
  );

const findLeakedReserves: FindViolations = async ({ snapshot }, report) => {
  for (const { relay_id, stored, derived } of await snapshot(listPeerReservations)) {
    if (stored !== derived) report(relay_id);
  }
};

const findUndecidedPayments: FindViolations = (books, report) =>
  scanPages(books, undecidedPayments, report);

const findWrongInspections: FindViolations = (books, report) =>
  scanPages(books, wrongInspections, report);

export const taskChecks: readonly BooksCheck[] = [
  {
    code: "settlement_mismatch",
    name: "each settlement record agrees with its postings",
    find: findWrongSettlements,
  },
  {
    code: "task_unsettled",
    name: "each completed paid task is settled or due to be settled",
    find: findUnsettledTasks,
  },
  {
    code: "inspection_mismatch",
    name: "each open inspection holds the amount due",
    find: findWrongInspections,
  },
  {
    code: "reserve_leaked",
    name: "the amounts reserved for peers are those of their open tasks",
    find: findLeakedReserves,
  },
  {
    code: "payment_undecided",
    name: "the outcome of each x402 payment is known within an hour",
    find: findUndecidedPayments,
  },
];
