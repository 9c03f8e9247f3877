import type { Query, Reader } from "../../storage/storage.ts";
import type { BooksCheckContext } from "./books-check.ts";

/** Small enough that a page blocks the event loop for only a few milliseconds. */
export const PAGE_ROWS = 500;

export interface Page {
  /** The key of the last row of the page before. */
  readonly after: string;
  readonly limit: number;
}

export interface PageParams extends Page {
  readonly since: number;
  readonly now: number;
}

export interface PageRow {
  /** The key of the last row; null on an empty page. */
  readonly last: string | null;
  readonly rows: number;
  /** JSON array of the ids that break the rule. */
  readonly wrong: string;
}

/**
 * Reports the faulty rows that a query finds, page by page. Each page is one statement and so one snapshot;
 * a movement in progress is not reported as a fault.
 */
export async function scanPages(
  { snapshot, since, now }: BooksCheckContext,
  query: Query<PageParams, PageRow>,
  report: (id: string) => void,
  limit = PAGE_ROWS,
): Promise<void> {
  await forEachPage(limit, async (after) => {
    const page = await snapshot((read) => read.get(query, { after, limit, since, now }));
    for (const id of JSON.parse(page?.wrong ?? "[]") as string[]) report(id);
    return page;
  });
}

/** The same within one snapshot, for rows that are compared with those of other pages. */
export async function readPages<
  Row extends { readonly last: string | null; readonly rows: number },
>(read: Reader, query: Query<Page, Row>, onPage: (page: Row) => void): Promise<void> {
  await forEachPage(PAGE_ROWS, async (after) => {
    const page = await read.get(query, { after, limit: PAGE_ROWS });
    if (page !== undefined) onPage(page);
    return page;
  });
}

/** Sums the amounts of all pages by name; `getPairs` returns a JSON array of `[name, amount]`. */
export async function sumPages<Row extends { readonly last: string | null; readonly rows: number }>(
  read: Reader,
  query: Query<Page, Row>,
  getPairs: (page: Row) => string,
): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  await readPages(read, query, (page) => {
    for (const [name, amount] of JSON.parse(getPairs(page)) as [string, number][]) {
      sums.set(name, (sums.get(name) ?? 0) + amount);
    }
  });
  return sums;
}

async function forEachPage(
  limit: number,
  next: (
    after: string,
  ) => Promise<{ readonly last: string | null; readonly rows: number } | undefined>,
): Promise<void> {
  for (let after = ""; ;) {
    const page = await next(after);
    if (page === undefined || page.last === null || page.rows < limit) return;
    after = page.last;
  }
}
