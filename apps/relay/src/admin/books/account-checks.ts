import {
  brokenBalances,
  heldByPayer,
  heldByAgent,
  overdrawnAgents,
  listPostingsAfter,
  unmatchedHolds,
  wrongWithdrawalCounts,
} from "./account-store.ts";
import type { BooksCheckContext, BooksCheck } from "./books-check.ts";
import { PAGE_ROWS, readPages, scanPages, sumPages } from "./scan-pages.ts";

type FindViolations = BooksCheck["find"];

const findOverdrawnAgents: FindViolations = (books, report) =>
  scanPages(books, overdrawnAgents, report);

/**
 * Checks that the balance of each account equals that of its last posting. A full check also compares each
 * posting with the previous balance, so that the balance is the sum of all postings.
 */
const findBrokenBalances: FindViolations = async (books, report) => {
  const reported = new Set<string>();
  const reportOnce = (account: string) => {
    if (reported.has(account)) return;
    reported.add(account);
    report(account);
  };
  await scanPages(books, brokenBalances, reportOnce);
  if (books.since === 0) await findBalanceGaps(books, reportOnce);
};

async function findBalanceGaps(
  { snapshot }: BooksCheckContext,
  report: (account: string) => void,
): Promise<void> {
  for (let position = { account: "", sequence: 0 }; ;) {
    const query = { ...position, limit: PAGE_ROWS };
    const page = await snapshot((read) => listPostingsAfter(read, query));
    for (const { account, fits } of page) if (fits !== 1) report(account);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    position = last;
  }
}

const findUnmatchedHolds: FindViolations = (books, report) =>
  scanPages(books, unmatchedHolds, report);

const findWrongWithdrawalCounts: FindViolations = (books, report) =>
  scanPages(books, wrongWithdrawalCounts, report);

/** Checks that the held amount of an account is the sum of the holds of its open and unsettled tasks. */
const findWrongHeldAmounts: FindViolations = ({ snapshot }, report) =>
  snapshot(async (read) => {
    const holds = await sumPages(read, heldByPayer, ({ payers }) => payers);
    await readPages(read, heldByAgent, ({ held }) => {
      for (const [account, amount] of JSON.parse(held) as [string, number][]) {
        if (amount !== (holds.get(account) ?? 0)) report(account);
      }
    });
  });

export const accountChecks: readonly BooksCheck[] = [
  {
    code: "agent_overdrawn",
    name: "no agent owes, except by card_reversal",
    find: findOverdrawnAgents,
  },
  {
    code: "balance_mismatch",
    name: "each balance is the sum of its postings",
    find: findBrokenBalances,
  },
  {
    code: "hold_unmatched",
    name: "each hold belongs to an open task or withdrawal",
    find: findUnmatchedHolds,
  },
  {
    code: "withdrawal_mismatch",
    name: "the amounts held for withdrawals are those of the pending ones",
    find: findWrongWithdrawalCounts,
  },
  {
    code: "held_mismatch",
    name: "the held amount of each account is the sum of its tasks' holds",
    find: findWrongHeldAmounts,
  },
];
