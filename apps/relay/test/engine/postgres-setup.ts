import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createDatabase, dropDatabase, runStatement, startPostgres } from "@agent/test-postgres";
import type { TestProject } from "vitest/node";
import type {} from "./engine.ts";

const MIGRATE = fileURLToPath(new URL("migrate-database.ts", import.meta.url));

/**
 * Starts the server of a run, or uses the one of AGENT_TEST_DATABASE_URL, and creates the database of which
 * each test's relay gets a copy. Without a server the run fails.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["AGENT_TEST_DATABASE_URL"];
  const server = given === undefined ? await startPostgres() : undefined;
  const serverUrl = given ?? server?.url ?? "";
  const template = `relay_test_${process.pid}`;
  let reset: string;
  const end = () => (server === undefined ? dropAll(serverUrl, template) : server.stop());
  try {
    const url = await createDatabase(serverUrl, template);
    // Node.js loads the relay's sources, because a setup file does not resolve `agent-source`.
    const options = ["--conditions=agent-source", MIGRATE, url];
    execFileSync(process.execPath, options, { stdio: "inherit" });
    reset = await buildReset(url);
  } catch (error) {
    await end();
    throw error;
  }
  project.provide("postgres", { serverUrl, template, reset });
  return end;
}

/** Builds the statements that reset the tables of a database to the rows of the template. */
async function buildReset(url: string): Promise<string> {
  const tables = (await runStatement(
    url,
    `SELECT quote_ident(relname) AS name,
       (SELECT quote_literal(attname) FROM pg_attribute
         WHERE attrelid = c.oid AND attidentity <> '') AS numbered
     FROM pg_class AS c WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
     -- A trigger changes it with another table, so its rows are the last to go.
     ORDER BY relname = 'capability_counts', relname`,
  )) as unknown as { name: string; numbered: string | null }[];
  const statements: string[] = [];
  for (const { name, numbered } of tables) {
    statements.push(`DELETE FROM ${name}`);
    const text = `SELECT quote_literal(json_agg(t)) AS rows FROM ${name} AS t`;
    const rows = (await runStatement(url, text))[0]?.["rows"];
    if (typeof rows === "string") {
      statements.push(
        `INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, ${rows})`,
      );
    }
    if (numbered !== null) {
      statements.push(`SELECT setval(pg_get_serial_sequence('${name}', ${numbered}), 1, false)`);
    }
  }
  return statements.join(";\n");
}

/** Drops the databases of a run, whose names begin with the template's name. */
async function dropAll(serverUrl: string, template: string): Promise<void> {
  const query = "SELECT datname FROM pg_database WHERE starts_with(datname, $1)";
  for (const { datname } of await runStatement(serverUrl, query, [template])) {
    await dropDatabase(serverUrl, String(datname));
  }
}
