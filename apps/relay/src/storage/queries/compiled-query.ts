import {
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
  type CompiledQuery,
  type DeleteResult,
  type InsertResult,
  type QueryExecutorProvider,
  type RawBuilder,
  type UpdateResult,
} from "kysely";
import type { Tables } from "../tables.ts";

export { sql };

class ParameterMarker {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * SQLite plans a statement again at each execution when a bound value could lead to a better plan: an
 * equality before ORDER BY, a LIMIT, a constant of a partial index. That costs 5 to 40 us, so constants
 * are written into the text and a plus hides each parameter from the planner.
 */
class InliningCompiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof ParameterMarker) super.appendValue(value);
    else this.appendImmediateValue(value);
  }

  protected override getCurrentParameterPlaceholder(): string {
    return "+?";
  }
}

/** Only compiles, because a prepared statement costs a tenth of a query that is built each time. */
export const queryBuilder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (self) => new SqliteIntrospector(self),
    createQueryCompiler: () => new InliningCompiler(),
  },
});

/** A value in SQLite. A boolean is 0 or 1, a structured value is JSON text. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A compiled statement with the parameters `P`; `Row` is `never` if it returns no rows. */
export interface Query<P, Row> {
  readonly text: string;
  /** The parameter of each placeholder, in order. */
  readonly names: readonly string[];
  /** The values to bind, in order. Throws when one is missing, which would be stored as NULL. */
  readonly values: (params: P) => SqlValue[];
  /** Never set; it carries the type. */
  readonly row?: Row;
}

/**
 * Returns a placeholder for a value. SQLite receives every number as REAL, so write
 * `cast(... as integer)` before `/` and `||` and in JSON functions.
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

interface CompilableQuery<Row> {
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
    const { sql: text, parameters } = builder.compile(queryBuilder);
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
  };
}
