import {
  brokenBalances,
  heldByPayer,
  heldOfAgents,
  owingAgents,
  postingsAfter,
  strayHolds,
  strayWithdrawals,
} from "./account-store.ts";
import type { Books, Check } from "./check.ts";
import { PAGE_ROWS, readPages, scanPages } from "./scan.ts";

type Find = Check["find"];

const findOwing: Find = (books, report) => scanPages(books, owingAgents, report);

/**
 * The balance of each account is the one that its last posting left. When everything is checked, each
 * posting also goes on from the balance before it, so that the balance is the sum of all.
 */
const findBroken: Find = async (books, report) => {
  const reported = new Set<string>();
  const reportOnce = (account: string) => {
    if (reported.has(account)) return;
    reported.add(account);
    report(account);
  };
  await scanPages(books, brokenBalances, reportOnce);
  if (books.since === 0) await findGaps(books, reportOnce);
};

async function findGaps({ snapshot }: Books, report: (account: string) => void): Promise<void> {
  for (let place = { account: "", sequence: 0 }; ;) {
    const query = { ...place, limit: PAGE_ROWS };
    const page = await snapshot((read) => postingsAfter(read, query));
    for (const { account, fits } of page) if (fits !== 1) report(account);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    place = last;
  }
}

const findStrayHolds: Find = (books, report) => scanPages(books, strayHolds, report);

const findStrayWithdrawals: Find = (books, report) => scanPages(books, strayWithdrawals, report);

/** What an account counts as held is the sum of the holds of its open and unsettled tasks. */
const findWrongHeld: Find = ({ snapshot }, report) =>
  snapshot(async (read) => {
    const holds = new Map<string, number>();
    await readPages(read, heldByPayer, ({ payers }) => {
      for (const [account, amount] of JSON.parse(payers) as [string, number][]) {
        holds.set(account, (holds.get(account) ?? 0) + amount);
      }
    });
    await readPages(read, heldOfAgents, ({ held }) => {
      for (const [account, amount] of JSON.parse(held) as [string, number][]) {
        if (amount !== (holds.get(account) ?? 0)) report(account);
      }
    });
  });

export const accountChecks: readonly Check[] = [
  { name: "no agent owes, except by card_reversal", find: findOwing },
  { name: "balances are the sums of their postings", find: findBroken },
  { name: "every hold is that of an open task or withdrawal", find: findStrayHolds },
  { name: "what agents take out is in pending withdrawals", find: findStrayWithdrawals },
  { name: "what accounts hold is in holds of their tasks", find: findWrongHeld },
];
