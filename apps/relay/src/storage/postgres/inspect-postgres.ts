import type { Client } from "pg";
import { refuseDatabase, type DatabaseRefusal } from "../database/database-refusal.ts";
import {
  findUnknownMigration,
  type AppliedMigration,
  type Migration,
} from "../database/migrate.ts";
import { listPostgresMigrations } from "./migrate-postgres.ts";

const MIN_VERSION = 150_000;
/** Set by the servers of tests. */
const DISPOSABLE_SETTING = "agent.disposable";
const DURABILITY_SETTINGS = ["fsync", "full_page_writes", "synchronous_commit"];

export interface InspectOptions {
  /** The database as the operator is shown it. */
  readonly name: string;
  readonly migrations: readonly Migration[];
}

export type PostgresInspection =
  | { readonly ok: true; readonly applied: readonly AppliedMigration[] }
  | DatabaseRefusal;

/** Checks the server and that the database is empty or a relay's, without changing it. */
export async function inspectPostgres(
  client: Client,
  { name, migrations }: InspectOptions,
): Promise<PostgresInspection> {
  const version = Number(await readSetting(client, "server_version_num"));
  if (version < MIN_VERSION) {
    return refuseDatabase("database.unusable", `${name} must be PostgreSQL 15 or later`);
  }
  if ((await readSetting(client, "server_encoding")) !== "UTF8") {
    return refuseDatabase("database.unusable", `${name} must have the encoding UTF8`);
  }
  const lossy = await findLossySetting(client);
  if (lossy !== undefined) {
    const detail = `${name} has ${lossy} off, so a crash could lose acknowledged payments`;
    return refuseDatabase("database.unusable", detail);
  }
  const applied = await listPostgresMigrations(client);
  if (applied.length === 0 && (await hasTables(client))) {
    return refuseDatabase(
      "database.foreign",
      `${name} has tables and is not a database of a relay`,
    );
  }
  const unknown = findUnknownMigration(applied, migrations);
  if (unknown !== undefined) {
    const detail = `${name} has the migration ${unknown}, which this version does not know`;
    return refuseDatabase("database.newer", detail);
  }
  return { ok: true, applied };
}

/** Finds a setting that can lose commits; a test server declares that its data may be lost. */
async function findLossySetting(client: Client): Promise<string | undefined> {
  if ((await readSetting(client, DISPOSABLE_SETTING)) === "on") return undefined;
  for (const setting of DURABILITY_SETTINGS) {
    if ((await readSetting(client, setting)) === "off") return setting;
  }
  return undefined;
}

async function readSetting(client: Client, setting: string): Promise<unknown> {
  const { rows } = await client.query("SELECT current_setting($1, true) AS value", [setting]);
  return rows[0]?.value;
}

/** Ignores the empty list of migrations, which a first start that was killed leaves behind. */
async function hasTables(client: Client): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT 1 FROM pg_class WHERE relkind IN ('r', 'p') AND relname <> 'schema_migrations'
       AND relnamespace = current_schema()::regnamespace LIMIT 1`,
  );
  return rows.length > 0;
}
