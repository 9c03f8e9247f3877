import type { Reader } from "../../storage/storage.ts";

/** The input of a check of the books. */
export interface BooksCheckContext {
  /** Reads one snapshot, which compared rows must share. */
  readonly snapshot: <T>(work: (read: Reader) => Promise<T>) => Promise<T>;
  /** The time of the check in milliseconds. */
  readonly now: number;
  /** Rows that have not changed since then may be left out; 0 checks all rows. */
  readonly since: number;
}

/** One rule of the books. It reports the id of each row that breaks the rule, once. */
export interface BooksCheck {
  /** The fault in one word, which stays the same when `name` is worded anew. */
  readonly code: string;
  /** The rule in words. */
  readonly name: string;
  readonly find: (books: BooksCheckContext, report: (id: string) => void) => Promise<void>;
}

/** The result of one check. */
export interface BooksCheckResult {
  readonly code: string;
  readonly name: string;
  readonly ok: boolean;
  readonly count: number;
  /** The ids of the first 20 rows. */
  readonly ids: readonly string[];
  readonly detail: string;
}

const MAX_REPORTED_IDS = 20;

export async function runBooksCheck(
  { code, name, find }: BooksCheck,
  books: BooksCheckContext,
): Promise<BooksCheckResult> {
  const ids: string[] = [];
  let count = 0;
  await find(books, (id) => {
    count += 1;
    if (ids.length < MAX_REPORTED_IDS) ids.push(id);
  });
  return {
    code,
    name,
    ok: count === 0,
    count,
    ids,
    detail: count === 1 ? "1 row" : `${count} rows`,
  };
}
