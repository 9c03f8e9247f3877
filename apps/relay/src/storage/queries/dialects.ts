import { PostgresQueryCompiler, SqliteQueryCompiler, sql, type RawBuilder } from "kysely";

/** A value that is bound when the statement runs. */
export class ParameterMarker {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A fragment that each dialect words differently. */
class DialectFragment {
  readonly sqlite: RawBuilder<unknown>;
  readonly postgres: RawBuilder<unknown>;
  constructor(sqlite: RawBuilder<unknown>, postgres: RawBuilder<unknown>) {
    this.sqlite = sqlite;
    this.postgres = postgres;
  }
}

/**
 * Returns a fragment for an expression that SQLite and PostgreSQL write differently: ``either({ sqlite:
 * sql<number>`max(a, b)`, postgres: sql<number>`greatest(a, b)` })``.
 */
export function either<T>(fragments: {
  readonly sqlite: RawBuilder<T>;
  readonly postgres: RawBuilder<T>;
}): RawBuilder<T> {
  return sql<T>`${new DialectFragment(fragments.sqlite, fragments.postgres)}`;
}

/**
 * SQLite plans a statement again at each execution when a bound value could lead to a better plan: an
 * equality before ORDER BY, a LIMIT, a constant of a partial index. That costs 5 to 40 us, so constants
 * are written into the text and a plus hides each parameter from the planner.
 */
export class InliningSqliteCompiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof ParameterMarker) super.appendValue(value);
    else if (value instanceof DialectFragment) this.visitNode(value.sqlite.toOperationNode());
    else this.appendImmediateValue(value);
  }

  protected override getCurrentParameterPlaceholder(): string {
    return "+?";
  }
}

/** Constants are in the text here as well, so that the planner finds partial indexes. */
export class InliningPostgresCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof ParameterMarker) super.appendValue(value);
    else if (value instanceof DialectFragment) this.visitNode(value.postgres.toOperationNode());
    else this.appendImmediateValue(value);
  }
}
