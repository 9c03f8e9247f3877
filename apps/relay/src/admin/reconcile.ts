import { asMicro, fromMicro } from "@agent/budget";
import type { Answer, Operations, Result } from "@agent/wire";
import type { Services } from "../services.ts";
import { accountChecks } from "./books/account-checks.ts";
import { accountTotals, totalReversed, totalsMovedOutside } from "./books/account-store.ts";
import { runCheck, type Books as BooksToCheck, type Check, type Finding } from "./books/check.ts";
import { readPages } from "./books/scan.ts";
import { taskChecks } from "./books/task-checks.ts";

/** What the accounts hold together, and which rules they keep. */
export type Books = Omit<Result<Operations["reconcile"]>, "checks"> & { checks: Finding[] };

/** Every rule of the books; each reads its rows page by page and on its own. */
const CHECKS: readonly Check[] = [...accountChecks, ...taskChecks];

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
): Promise<Books> {
  const { kinds, outside, reversed } = await totalsOf(books);
  const balance = (kind: string) => kinds.get(kind) ?? 0;
  const moved = (type: string) => outside.get(type) ?? 0;
  const sum = [...kinds.values()].reduce((all, amount) => all + amount, 0);
  const checks: Finding[] = [
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
    checks.push(await runCheck(check, { ...books, since }));
  }
  return {
    consistent: checks.every(({ ok }) => ok),
    checks,
    totals: {
      deposits: dollars(-moved("deposit")),
      withdrawals: dollars(moved("withdrawal")),
      balances: dollars(balance("agent")),
      holds: dollars(balance("held")),
      fees: dollars(balance("relay")),
      peers: dollars(balance("peer")),
      card_reversals: dollars(reversed),
    },
  };
}

/** All accounts of one moment: a sum over several moments would miss what moved in between. */
function totalsOf({ snapshot }: BooksToCheck) {
  return snapshot(async (read) => {
    const kinds = new Map<string, number>();
    await readPages(read, accountTotals, ({ totals }) => {
      for (const [kind, amount] of JSON.parse(totals) as [string, number][]) {
        kinds.set(kind, (kinds.get(kind) ?? 0) + amount);
      }
    });
    return { kinds, outside: await totalsMovedOutside(read), reversed: await totalReversed(read) };
  });
}

/** `-0` is no amount. */
function dollars(micro: number): number {
  return fromMicro(asMicro(micro + 0));
}
