import { limits, type Refusal } from "@agent/wire";
import { countToRead, cutPage } from "./cut-page.ts";
import { decodeCursor, encodeCursorKey } from "./cursor.ts";

export interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** The form of the keys of a list, and a key that sorts before the first. */
interface KeyOrder<Key> {
  readonly form: RegExp;
  readonly start: Key;
  readonly keyFrom: (text: string) => Key;
}

const textKeys = { form: /^[\x21-\x7e]+$/, keyFrom: String };
const numberKeys = { form: /^\d{1,15}$/, keyFrom: Number };

export const textAscending: KeyOrder<string> = { ...textKeys, start: "" };
/** "~" sorts after every digit and letter of an id. */
export const textDescending: KeyOrder<string> = { ...textKeys, start: "~" };
export const numberAscending: KeyOrder<number> = { ...numberKeys, start: 0 };
export const numberDescending: KeyOrder<number> = { ...numberKeys, start: Number.MAX_SAFE_INTEGER };

interface PageSource<Row, Key> {
  readonly order: KeyOrder<Key>;
  /** Lists at most `limit` rows after a key. */
  readonly find: (from: Key, limit: number) => Promise<Row[]>;
  readonly keyOf: (row: Row) => Key;
}

interface PageResult<Row> {
  readonly ok: true;
  readonly rows: Row[];
  readonly next_cursor: string | null;
}

export interface PageAnswer<Shown> {
  readonly ok: true;
  readonly status: 200;
  readonly body: Shown & { readonly next_cursor: string | null };
}

/** Lists the rows after the key of a cursor, with the cursor of the next page. */
export async function readPage<Row, Key extends string | number>(
  { limit = limits.defaultPageSize, cursor }: PageQuery,
  { order, find, keyOf }: PageSource<Row, Key>,
): Promise<PageResult<Row> | Refusal<"request.invalid">> {
  const from = decodeCursor(cursor, order.form);
  if (!from.ok) return from;
  const start = from.value === undefined ? order.start : order.keyFrom(from.value);
  const { rows, isLast } = cutPage(await find(start, countToRead(limit)), limit);
  const last = rows.at(-1);
  const isEnd = isLast || last === undefined;
  return { ok: true, rows, next_cursor: isEnd ? null : encodeCursorKey(String(keyOf(last))) };
}

/**
 * Builds the body of a page: its rows under the list's name, and `next_cursor`. If long texts make it too
 * large for clients, the page is read again with fewer rows.
 */
export async function createPageAnswer<Row, Key extends string | number, Shown extends object>(
  query: PageQuery,
  source: PageSource<Row, Key> & { readonly show: (rows: Row[]) => Shown | Promise<Shown> },
): Promise<PageAnswer<Shown> | Refusal<"request.invalid">> {
  const page = await readPage(query, source);
  if (!page.ok) return page;
  const { rows, next_cursor } = page;
  const shown = await source.show(rows);
  const limit = countFitting(rows.length, shown);
  if (limit < rows.length) return createPageAnswer({ ...query, limit }, source);
  return { ok: true, status: 200, body: { ...shown, next_cursor } };
}

/** Returns how many of the entries of a page may stay, so that its body is probably small enough for clients. */
export function countFitting(count: number, body: object): number {
  const bytes = Buffer.byteLength(JSON.stringify(body));
  if (bytes <= limits.pageBytes) return count;
  return Math.min(count, Math.max(1, Math.floor((count * limits.pageBytes) / bytes)));
}
