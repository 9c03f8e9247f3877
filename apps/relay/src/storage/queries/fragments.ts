import { sql, type Expression, type RawBuilder } from "kysely";
import { either } from "./dialects.ts";

/** Fragments that SQLite and Postgres word differently, in the words of both. */

type Fragment = Expression<unknown>;

/** Returns the larger of two numbers; SQLite returns null if one is null, so neither may be. */
export function largerOf<N extends number = number>(one: Fragment, other: Fragment): RawBuilder<N> {
  return either({
    sqlite: sql<N>`max(${one}, ${other})`,
    postgres: sql<N>`greatest(${one}, ${other})`,
  });
}

/** Returns the smaller of two numbers, neither of them null. */
export function smallerOf(one: Fragment, other: Fragment): RawBuilder<number> {
  return either({
    sqlite: sql<number>`min(${one}, ${other})`,
    postgres: sql<number>`least(${one}, ${other})`,
  });
}

/** Returns a positive number without its fraction; a cast of Postgres rounds. */
export function lowerWhole(value: Fragment): RawBuilder<number> {
  return either({
    sqlite: sql<number>`cast(${value} as integer)`,
    postgres: sql<number>`cast(floor(${value}) as bigint)`,
  });
}

/** Returns the text in which a page of accounts begins: after a text, and not before a prefix. */
export function laterText(prefix: string, after: Fragment): RawBuilder<string> {
  return either({
    sqlite: sql<string>`max(${sql.lit(prefix)}, ${after})`,
    postgres: sql<string>`greatest(${sql.lit(prefix)} collate "C", ${after})`,
  });
}

/**
 * Returns a member of a JSON text. Cast it before it is compared with a number: Postgres returns every
 * member as text.
 */
export function jsonMember<T = string | null>(
  column: string,
  ...path: [string, ...string[]]
): RawBuilder<T> {
  const members = path.map((member) => sql`, ${sql.lit(member)}`);
  return either({
    sqlite: sql<T>`${sql.ref(column)} ->> ${sql.lit(`$.${path.join(".")}`)}`,
    postgres: sql<T>`json_text(${sql.ref(column)}${sql.join(members, sql``)})`,
  });
}

/** Selects the texts of a JSON array as the column `value`. */
export function jsonTexts(array: Fragment): RawBuilder<{ value: string }> {
  return either({
    sqlite: sql<{ value: string }>`(select value from json_each(${array}))`,
    postgres: sql<{
      value: string;
    }>`(select value from json_array_elements_text(to_safe_json(${array})) as value)`,
  });
}

/** Selects the members of a JSON object, whose values must be texts, as the columns `key` and `value`. */
export function jsonMembers(object: Fragment): RawBuilder<{ key: string; value: string }> {
  return either({
    sqlite: sql<{ key: string; value: string }>`(select key, value from json_each(${object}))`,
    postgres: sql<{
      key: string;
      value: string;
    }>`(select key, value from json_each_text(to_safe_json(${object})))`,
  });
}

/** Returns the number of elements of a JSON array. */
export function jsonLength(column: string): RawBuilder<number> {
  return either({
    sqlite: sql<number>`json_array_length(${sql.ref(column)})`,
    postgres: sql<number>`json_array_length(cast(${sql.ref(column)} as json))`,
  });
}

/** Aggregates rows to the text of a JSON array. */
export function jsonRows(value: Fragment): RawBuilder<string> {
  return either({
    sqlite: sql<string>`json_group_array(${value})`,
    postgres: sql<string>`cast(coalesce(json_agg(${value}), '[]') as text)`,
  });
}

/** Returns a JSON array of two values, for `jsonRows`. */
export function jsonPair(one: Fragment, other: Fragment): RawBuilder<unknown> {
  return either({
    sqlite: sql`json_array(${one}, ${other})`,
    postgres: sql`json_build_array(${one}, ${other})`,
  });
}

/**
 * Locks the selected rows of Postgres until the transaction ends, so that they are read as they will be
 * written. In SQLite a transaction runs alone.
 */
export const lockedRows: RawBuilder<unknown> = either({
  sqlite: sql``,
  postgres: sql`for no key update`,
});

/**
 * Returns the time of the database's own clock in ms, by which its processes check each other. SQLite has
 * one process and never needs it.
 */
export const databaseTime = either({
  sqlite: sql<number>`0`,
  postgres: sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
});

/** Skips rows that another process has just claimed; on SQLite there is no other. */
export const skipLocked = either({ sqlite: sql``, postgres: sql`for update skip locked` });

/** Keeps the read rows as they are until the transaction ends; SQLite runs one at a time anyway. */
export const keepUnchanged = either({ sqlite: sql``, postgres: sql`for share` });

/** Names the index that SQLite must use; the planner of Postgres knows how many rows each would find. */
export function indexedBy(index: string): RawBuilder<unknown> {
  return either({ sqlite: sql`indexed by ${sql.ref(index)}`, postgres: sql`` });
}
