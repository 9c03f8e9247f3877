/**
 * Returns how many rows to read for a page. One row more than the page shows is needed, because only that row
 * tells a full last page from a page that another one follows.
 */
export function countToRead(limit: number): number {
  return limit + 1;
}

/** Cuts the rows that were read for a page to those that it shows, and tells whether it is the last one. */
export function cutPage<Row>(
  read: readonly Row[],
  limit: number,
): { readonly rows: Row[]; readonly isLast: boolean } {
  return { rows: read.slice(0, limit), isLast: read.length <= limit };
}
