import { createHash } from "node:crypto";
import type { QueryConfig } from "pg";
import type { Query, SqlValue } from "../queries/compiled-query.ts";
import { findAgentParameter } from "../writing/agent-changes.ts";
import { escapeText } from "./values/escape-text.ts";

interface PreparedStatement {
  readonly name: string;
  readonly isWriting: boolean;
  /** Whether the server counts all rows that it writes: those of a part before the last are not counted. */
  readonly countsWrites: boolean;
  readonly agentParameter: string | null | undefined;
}

const WRITING = /\b(?:insert|update|delete|lock)\b/i;
const COUNTING = /^\s*(?:insert|update|delete)\b/i;
const statements = new WeakMap<object, PreparedStatement>();

/** A name that means the same text in every version that shares a server connection. */
const hashText = (text: string) =>
  createHash("sha256").update(text).digest("base64url").slice(0, 24);

function getStatement<P, Row>(query: Query<P, Row>): PreparedStatement {
  let statement = statements.get(query);
  if (statement === undefined) {
    const { text } = query.postgres;
    statement = {
      name: hashText(text),
      isWriting: WRITING.test(text),
      countsWrites: COUNTING.test(text),
      agentParameter: findAgentParameter(query),
    };
    statements.set(query, statement);
  }
  return statement;
}

/** Part of each name, so that all statements are prepared again once a table has changed under one of them. */
let generation = 0;

const toName = (hash: string) => `${hash}/${generation}`;

/** Gives all statements new names, unless that was done since the stale one was sent. */
export function renewStatements({ name = "" }: Pick<QueryConfig, "name">): void {
  if (name.endsWith(toName(""))) generation += 1;
}

/**
 * Returns whether a query may have written the rows that the server counted; a query that only contains
 * such a keyword counts as well.
 */
export function mayHaveWritten<P, Row>(query: Query<P, Row>, rowCount: number | null): boolean {
  const { isWriting, countsWrites } = getStatement(query);
  return isWriting && !(countsWrites && rowCount === 0);
}

/** Returns the parameter that names the agent of the rows that a query changes, as `findAgentParameter` does. */
export function getAgentParameter<P, Row>(query: Query<P, Row>): string | null | undefined {
  return getStatement(query).agentParameter;
}

const hashes = new Map<string, string>();

/** Names one of the few texts that this program builds, so that the driver prepares it once on each connection. */
export function toNamedStatement(text: string): { readonly name: string; readonly text: string } {
  let hash = hashes.get(text);
  if (hash === undefined) {
    hash = hashText(text);
    hashes.set(text, hash);
  }
  return { name: toName(hash), text };
}

/** Returns a value in the form in which it is stored. */
export function toStoredValue<T>(value: T): T | string {
  return typeof value === "string" ? escapeText(value) : value;
}

/** Returns a query for the driver, which prepares it once on each connection. */
export function toQueryConfig<P, Row>(
  query: Query<P, Row>,
  params: P,
): QueryConfig<(SqlValue | Uint8Array)[]> {
  const { text, values } = query.postgres;
  return {
    name: toName(getStatement(query).name),
    text,
    values: values(params).map((value) => toStoredValue(value)),
  };
}
