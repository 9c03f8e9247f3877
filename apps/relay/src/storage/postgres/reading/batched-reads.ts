import type { QueryResultRow } from "pg";
import type { Query } from "../../queries/compiled-query.ts";
import { isConnectionLost, isStaleStatement } from "../postgres-error.ts";
import { renewStatements, toNamedStatement, toStoredValue } from "../prepared-statement.ts";
import { yieldToEventLoop } from "../../yield-to-event-loop.ts";

/** More would let the first of them wait for too long. */
const MAX_READS = 256;

/** The name of no column of a query. */
const PLACE = "place of a read";

interface WaitingRead {
  readonly values: readonly unknown[];
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (reason: unknown) => void;
}

/** Sends a named statement. */
type Send = (statement: {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}) => Promise<{ readonly rows: QueryResultRow[] }>;

/** A read of one query, which other reads of it may join. */
export type ReadInBatch = <P, Row>(query: Query<P, Row>, params: P) => Promise<Row[]>;

/** Sends the reads of one query that begin in the same turn of the event loop as one statement. */
export function createBatchedReads(send: Send): ReadInBatch {
  const waiting = new Map<object, WaitingRead[]>();

  async function sendWaiting(query: Query<never, unknown>): Promise<void> {
    await yieldToEventLoop();
    const reads = waiting.get(query) ?? [];
    waiting.delete(query);
    for (let at = 0; at < reads.length; at += MAX_READS) {
      void sendReads(query, reads.slice(at, at + MAX_READS));
    }
  }

  async function sendReads(
    query: Query<never, unknown>,
    reads: readonly WaitingRead[],
  ): Promise<void> {
    try {
      const rows = await sendTogether(query, reads);
      for (const [at, { resolve }] of reads.entries()) resolve(rows[at] ?? []);
    } catch (error) {
      if (isStaleStatement(error)) renewStatements(toStatement(query));
      else if (reads.length === 1) return reads[0]?.reject(error);
      // A row that cannot be read must not cost the other reads their answers.
      if (isConnectionLost(error)) for (const { reject } of reads) reject(error);
      else for (const read of reads) void sendReads(query, [read]);
    }
  }

  async function sendTogether(
    query: Query<never, unknown>,
    reads: readonly WaitingRead[],
  ): Promise<unknown[][]> {
    const found: unknown[][] = reads.map(() => []);
    const values = query.postgres.names.map((_, at) => reads.map((read) => read.values[at]));
    for (const { [PLACE]: place, ...row } of (await send({ ...toStatement(query), values })).rows) {
      found[Number(place) - 1]?.push(row);
    }
    return found;
  }

  return <P, Row>(query: Query<P, Row>, params: P) =>
    new Promise<Row[]>((resolve, reject) => {
      const values = query.postgres.values(params).map((value) => toStoredValue(value));
      const read = { values, resolve: resolve as (rows: unknown[]) => void, reject };
      const reads = waiting.get(query);
      if (reads !== undefined) return void reads.push(read);
      waiting.set(query, [read]);
      void sendWaiting(query);
    });
}

const toStatement = (query: Query<never, unknown>) => toNamedStatement(joinReads(query));

const joined = new Map<string, string>();

/** Returns a statement that runs a query once for each place of its arrays. */
export function joinReads({
  postgres: { text, names: parameters },
}: Query<never, unknown>): string {
  let statement = joined.get(text);
  if (statement === undefined) {
    const places = parameters.map((_, at) => at + 1);
    const arrays = places.map((place) => `$${place}::text[]`).join(", ");
    const names = places.map((place) => `value${place}`).join(", ");
    const query = text.replaceAll(/\$(\d+)/g, "wanted.value$1");
    statement =
      `SELECT wanted.place AS "${PLACE}", found.* ` +
      `FROM unnest(${arrays}) WITH ORDINALITY AS wanted (${names}, place) ` +
      `CROSS JOIN LATERAL (${query}) AS found`;
    joined.set(text, statement);
  }
  return statement;
}
