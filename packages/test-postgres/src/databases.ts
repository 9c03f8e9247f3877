import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Client, types, type CustomTypesConfig } from "pg";

const ENSURE_PROGRAM = fileURLToPath(new URL("ensure-database.ts", import.meta.url));

/** Returns the address of another database on the same server. */
export function toDatabaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/**
 * Creates a database as a copy of a template, which must have no connections. The server copies page by page,
 * because copying the files would make it write everything that is not stored yet twice.
 */
export async function createDatabase(
  serverUrl: string,
  name: string,
  template = "template1",
): Promise<string> {
  await runStatement(
    serverUrl,
    `CREATE DATABASE "${name}" TEMPLATE "${template}" STRATEGY wal_log`,
  );
  return toDatabaseUrl(serverUrl, name);
}

const DUPLICATE_DATABASE = "42P04";

/** Creates a database like `createDatabase`, unless it exists. */
export async function ensureDatabase(
  serverUrl: string,
  name: string,
  template: string,
): Promise<string> {
  try {
    return await createDatabase(serverUrl, name, template);
  } catch (error) {
    if ((error as { code?: string }).code !== DUPLICATE_DATABASE) throw error;
    return toDatabaseUrl(serverUrl, name);
  }
}

/** Does the same synchronously, at the cost of starting a program. */
export function ensureDatabaseSync(serverUrl: string, name: string, template: string): string {
  execFileSync(process.execPath, [ENSURE_PROGRAM, serverUrl, name, template], { stdio: "inherit" });
  return toDatabaseUrl(serverUrl, name);
}

/** Drops a database and closes its remaining connections. */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await runStatement(serverUrl, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
}

const { INT8, NUMERIC } = types.builtins;

/** Reads 64-bit and decimal columns as numbers; the values in tests are small enough. */
const numbers: CustomTypesConfig = {
  getTypeParser: ((id: number, format: "text") =>
    id === INT8 || id === NUMERIC
      ? Number
      : types.getTypeParser(id, format)) as CustomTypesConfig["getTypeParser"],
};

/** Opens a connection that reads such columns as numbers. */
export async function openConnection(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, types: numbers });
  await client.connect();
  return client;
}

/** Runs one statement on a separate connection and returns its rows. */
export async function runStatement(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = await openConnection(url);
  try {
    const { rows } = await client.query<Record<string, unknown>>(text, [...values]);
    return rows;
  } finally {
    await client.end();
  }
}
