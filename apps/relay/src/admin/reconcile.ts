import { toDollars } from "@agent/budget";
import type { Answer, Operations, Result } from "@agent/wire";
import type { Services } from "../services.ts";
import { accountChecks } from "./books/account-checks.ts";
import { accountTotals, sumCardReversals, sumExternalMovements } from "./books/account-store.ts";
import {
  runBooksCheck,
  type BooksCheckContext as BooksToCheck,
  type BooksCheck,
  type BooksCheckResult,
} from "./books/books-check.ts";
import { readPages } from "./books/scan-pages.ts";
import { taskChecks } from "./books/task-checks.ts";

/** What the accounts hold together, and which rules they keep. */
export type ReconciliationResult = Omit<Result<Operations["reconcile"]>, "checks"> & {
  checks: BooksCheckResult[];
};

/** Every rule of the books; each reads its rows page by page and on its own. */
const CHECKS: readonly BooksCheck[] = [...accountChecks, ...taskChecks];

/** Checks everything now, for the operator who asks. */
export async function reconcile({
  reconciler,
}: Pick<Services, "reconciler">): Promise<Answer<Operations["reconcile"]>> {
  const books = await reconciler.checkAll();
  const checks = books.checks.map((check) => ({ ...check, ids: [...check.ids] }));
  return { status: 200, body: { ...books, checks } };
}

/**
 * Proves from the postings that no money was made or lost, and that what must belong together does.
 * A check that failed the last time (`failing`) reads everything again, so that what it found stays
 * reported until it is mended.
 */
export async function checkBooks(
  books: BooksToCheck,
  failing: readonly string[] = [],
): Promise<ReconciliationResult> {
  const { kinds, outside, reversed } = await sumAccounts(books);
  const balanceOfKind = (kind: string) => kinds.get(kind) ?? 0;
  const externalTotal = (type: string) => outside.get(type) ?? 0;
  const sum = [...kinds.values()].reduce((all, amount) => all + amount, 0);
  const checks: BooksCheckResult[] = [
    {
      name: "all accounts together hold 0",
      ok: sum === 0,
      count: sum === 0 ? 0 : 1,
      ids: [],
      detail: `${sum} micro-units`,
    },
  ];
  for (const check of CHECKS) {
    const since = failing.includes(check.name) ? 0 : books.since;
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

/** All accounts of one moment: a sum over several moments would miss what moved in between. */
function sumAccounts({ snapshot }: BooksToCheck) {
  return snapshot(async (read) => {
    const kinds = new Map<string, number>();
    await readPages(read, accountTotals, ({ totals }) => {
      for (const [kind, amount] of JSON.parse(totals) as [string, number][]) {
        kinds.set(kind, (kinds.get(kind) ?? 0) + amount);
      }
    });
    return {
      kinds,
      outside: await sumExternalMovements(read),
      reversed: await sumCardReversals(read),
    };
  });
}
