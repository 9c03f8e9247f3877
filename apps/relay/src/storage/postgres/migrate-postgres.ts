import type { Client } from "pg";
import { getOldestPosition, type AppliedMigration, type Migration } from "../database/migrate.ts";
import { toPostgresSql } from "../migrations/to-postgres-sql.ts";
import { isConflict } from "./postgres-error.ts";
import { DatabaseLocked, hasOlderSession, TAKE_TURN } from "./writing-connection.ts";

/** A step can rewrite a large table. */
const MAX_STEP_MS = 24 * 3_600_000;
const MAX_CONFLICTS = 20;

/** Lists what the database has recorded, oldest first. */
export async function listPostgresMigrations(client: Client): Promise<AppliedMigration[]> {
  const table = await client.query("SELECT to_regclass('schema_migrations') IS NOT NULL AS known");
  if (table.rows[0]?.known !== 1) return [];
  const rows = "SELECT id, oldest FROM schema_migrations ORDER BY position";
  return (await client.query<AppliedMigration>(rows)).rows;
}

/**
 * Applies the missing steps, each in its own transaction, and returns their ids. A new database begins
 * with the latest baseline, which stands for the steps up to it.
 */
export async function migratePostgres(
  client: Client,
  migrations: readonly Migration[],
): Promise<string[]> {
  const applied = (await listPostgresMigrations(client)).length;
  if (migrations.length <= applied) return [];
  await client.query(
    toPostgresSql(`CREATE TABLE IF NOT EXISTS schema_migrations (
      position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, oldest INTEGER)`),
  );
  const baseline = migrations.findLastIndex((step) => step.postgresBaseline !== undefined);
  const isUpdate = applied > 0;
  let next = applied;
  if (!isUpdate && baseline >= 0) {
    const text = migrations[baseline]?.postgresBaseline ?? "";
    await applyStep(client, migrations, { text, first: 0, last: baseline, isUpdate });
    next = baseline + 1;
  }
  for (; next < migrations.length; next += 1) {
    const { sql } = migrations[next] as Migration;
    const text = typeof sql === "string" ? sql : sql.postgres;
    const step = { text, first: next, last: next, isUpdate };
    await repeatConflicts(() => applyStep(client, migrations, step));
  }
  return migrations.slice(applied).map(({ id }) => id);
}

/** Processes that work on a table can keep a step from its lock for longer than it waits. */
async function repeatConflicts(work: () => Promise<void>): Promise<void> {
  for (let left = MAX_CONFLICTS; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !isConflict(error)) throw error;
    }
  }
}

/** The text of one or several steps, and their places in the list of migrations. */
interface StepRange {
  readonly text: string;
  readonly first: number;
  readonly last: number;
  /** Whether processes may use the database already. */
  readonly isUpdate: boolean;
}

/**
 * Applies a text and records the steps that it stands for. It has its turn from the beginning: a batch that had
 * one would wait for the changed table, and the record of the step for the batch. A process that the step
 * excludes may have connected since the start.
 */
async function applyStep(
  client: Client,
  migrations: readonly Migration[],
  { text, first, last, isUpdate }: StepRange,
): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query("SET LOCAL statement_timeout = 0");
    await client.query(TAKE_TURN);
    if (isUpdate && (await hasOlderSession(client, getOldestPosition(migrations, last)))) {
      throw new DatabaseLocked("a process of an older version has connected");
    }
    const step = { text: toPostgresSql(text), query_timeout: MAX_STEP_MS };
    if (text.trim() !== "") await client.query(step);
    for (let at = first; at <= last; at += 1) {
      await client.query("INSERT INTO schema_migrations VALUES ($1, $2, $3)", [
        at + 1,
        migrations[at]?.id,
        getOldestPosition(migrations, at),
      ]);
    }
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}
