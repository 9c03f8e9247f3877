import type { Reader } from "../../storage/storage.ts";

/** What a check of the books reads. */
export interface BooksCheckContext {
  /** Reads as of one moment; what is compared with each other is read in one snapshot. */
  readonly snapshot: <T>(work: (read: Reader) => Promise<T>) => Promise<T>;
  /** The time of the check in milliseconds. */
  readonly now: number;
  /** What has neither moved nor ended since then may be left out; 0 checks everything. */
  readonly since: number;
}

/** One rule of the books. It reports the id of each row that breaks the rule, once. */
export interface BooksCheck {
  readonly name: string;
  readonly find: (books: BooksCheckContext, report: (id: string) => void) => Promise<void>;
}

/** What one check has found. */
export interface BooksCheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly count: number;
  /** Of the first 20. */
  readonly ids: readonly string[];
  readonly detail: string;
}

const MAX_REPORTED_IDS = 20;

export async function runBooksCheck(
  { name, find }: BooksCheck,
  books: BooksCheckContext,
): Promise<BooksCheckResult> {
  const ids: string[] = [];
  let count = 0;
  await find(books, (id) => {
    count += 1;
    if (ids.length < MAX_REPORTED_IDS) ids.push(id);
  });
  return { name, ok: count === 0, count, ids, detail: count === 1 ? "1 row" : `${count} rows` };
}
