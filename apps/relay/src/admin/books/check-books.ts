import { toDollars } from "@agent/budget";
import type { Operations, Result } from "@agent/wire";
import { accountChecks } from "./account-checks.ts";
import { accountTotals, sumCardReversals, sumExternalMovements } from "./account-store.ts";
import {
  runBooksCheck,
  type BooksCheckContext,
  type BooksCheck,
  type BooksCheckResult,
} from "./books-check.ts";
import { logChecks } from "./log-checks.ts";
import { sumPages } from "./scan-pages.ts";
import { taskChecks } from "./task-checks.ts";

/** The totals of all accounts and the result of each rule. */
export type ReconciliationResult = Omit<Result<Operations["reconcile"]>, "checks"> & {
  checks: BooksCheckResult[];
};

/** All rules of the books. Each reads its own rows page by page. */
const CHECKS: readonly BooksCheck[] = [...accountChecks, ...taskChecks, ...logChecks];

/**
 * Checks from the postings that no money was created or lost and that related rows agree. A check that
 * failed the last time (its code is in `failing`) reads all rows again, so that its fault is reported until it is
 * corrected.
 */
export async function checkBooks(
  books: BooksCheckContext,
  failing: readonly string[] = [],
): Promise<ReconciliationResult> {
  const { kinds, outside, reversed } = await sumAccounts(books);
  const balanceOfKind = (kind: string) => kinds.get(kind) ?? 0;
  const externalTotal = (type: string) => outside.get(type) ?? 0;
  const sum = [...kinds.values()].reduce((all, amount) => all + amount, 0);
  const checks: BooksCheckResult[] = [
    {
      code: "sum_not_zero",
      name: "the balances of all accounts sum to 0",
      ok: sum === 0,
      count: sum === 0 ? 0 : 1,
      ids: [],
      detail: `${sum} micro-units`,
    },
  ];
  for (const check of CHECKS) {
    const since = failing.includes(check.code) ? 0 : books.since;
    checks.push(await runBooksCheck(check, { ...books, since }));
  }
  return {
    consistent: checks.every(({ ok }) => ok),
    checks,
    totals: {
      deposits: toDollars(-externalTotal("deposit")),
      withdrawals: toDollars(externalTotal("withdrawal")),
      balances: toDollars(balanceOfKind("agent")),
      holds: toDollars(balanceOfKind("held")),
      fees: toDollars(balanceOfKind("relay")),
      peers: toDollars(balanceOfKind("peer")),
      card_reversals: toDollars(reversed),
    },
  };
}

/** Sums all accounts in one snapshot, because money moves between snapshots. */
function sumAccounts({ snapshot }: BooksCheckContext) {
  return snapshot(async (read) => ({
    kinds: await sumPages(read, accountTotals, ({ totals }) => totals),
    outside: await sumExternalMovements(read),
    reversed: await sumCardReversals(read),
  }));
}
