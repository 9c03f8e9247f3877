import {
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  createQueryId,
  sql,
  type CompiledQuery,
  type DeleteResult,
  type InsertResult,
  type OperationNodeSource,
  type QueryExecutorProvider,
  type RawBuilder,
  type RootOperationNode,
  type UpdateResult,
} from "kysely";
import type { Tables } from "../tables.ts";
import type { RowForm } from "./row-form.ts";
import { InliningPostgresCompiler, InliningSqliteCompiler, ParameterMarker } from "./dialects.ts";

export { either } from "./dialects.ts";
export { sql, type RawBuilder };

/** Only compiles, because a prepared statement costs a tenth of a query that is built each time. */
export const queryBuilder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (self) => new SqliteIntrospector(self),
    createQueryCompiler: () => new InliningSqliteCompiler(),
  },
});

/** A value in the database. A boolean is 0 or 1, a structured value is JSON text. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A statement in the words of one dialect. */
export interface CompiledText<P> {
  readonly text: string;
  /** The parameter of each placeholder, in order. */
  readonly names: readonly string[];
  /** The values to bind, in order. Throws when one is missing, which would be stored as NULL. */
  readonly values: (params: P) => SqlValue[];
}

/**
 * A compiled statement with the parameters `P`; `Row` is `never` if it returns no rows. Its own text is
 * that of SQLite.
 */
export interface Query<P, Row> extends CompiledText<P> {
  /** Compiled when it is first read. */
  readonly postgres: CompiledText<P>;
  /** Absent where a statement cannot be decided in memory. */
  readonly form?: RowForm<P>;
  /** Whether reads with different parameters may be sent as one statement. */
  readonly isBatched?: boolean;
  /** Never set; it carries the type. */
  readonly row?: Row;
}

/**
 * Returns a placeholder for a value. SQLite receives every number as REAL, so write
 * `cast(... as bigint)` before `/` and `||` and in JSON functions; in Postgres an `integer` is too small
 * for a timestamp.
 */
export function param<T = never>(name: string): RawBuilder<T> {
  return sql<T>`${new ParameterMarker(name)}`;
}

type ColumnName = { [Table in keyof Tables]: keyof Tables[Table] & string }[keyof Tables];

/** Returns the values of columns, each a parameter that is named like its column. */
export function params<const Name extends ColumnName>(
  ...names: readonly Name[]
): Record<Name, RawBuilder<never>> {
  return Object.fromEntries(names.map((name) => [name, param(name)])) as Record<
    Name,
    RawBuilder<never>
  >;
}

interface CompilableQuery<Row> extends OperationNodeSource {
  compile(provider: QueryExecutorProvider): CompiledQuery<Row>;
}

type RowOf<O> = unknown extends O
  ? never
  : O extends InsertResult | UpdateResult | DeleteResult
    ? never
    : O;

/**
 * Compiles a query, or a `sql` fragment that names its row type, once:
 * `compile<{ task_id: string }>()(queryBuilder.selectFrom("tasks").where("task_id", "=", param("task_id")))`.
 */
export function compile<P extends { readonly [K in keyof P]: SqlValue } = Record<never, never>>() {
  return <O>(builder: CompilableQuery<O>): Query<P, RowOf<O>> => {
    let postgres: CompiledText<P> | undefined;
    return {
      ...toCompiledText<P>(builder.compile(queryBuilder)),
      get postgres() {
        postgres ??= toCompiledText<P>(compileForPostgres(builder));
        return postgres;
      },
    };
  };
}

/** Marks a query that many requests send at once. All of its parameters must be texts. */
export function inBatches<P extends Readonly<Record<string, string>>, Row>(
  query: Query<P, Row>,
): Query<P, Row> {
  return Object.assign(query, { isBatched: true });
}

function compileForPostgres(builder: OperationNodeSource): CompiledQuery {
  const node = builder.toOperationNode() as RootOperationNode;
  return new InliningPostgresCompiler().compileQuery(node, createQueryId());
}

function toCompiledText<P>({ sql: text, parameters }: CompiledQuery): CompiledText<P> {
  const names = parameters.map((marker) => (marker as ParameterMarker).name);
  const values = (params: P): SqlValue[] => {
    const given = params as Readonly<Record<string, SqlValue | undefined>>;
    return names.map((name) => {
      const value = given[name];
      if (value === undefined) throw new TypeError(`no value for "${name}" in: ${text}`);
      return value;
    });
  };
  return { text, names, values };
}
