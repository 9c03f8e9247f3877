import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { migrate } from "../../src/storage/database/migrate.ts";
import { migrations } from "../../src/storage/migrations/index.ts";
import { Statements } from "../../src/storage/queries/statements.ts";
import { openDatabaseOf } from "./database-of-path.ts";

interface ListedQuery {
  readonly file: string;
  readonly sqlite: string;
  readonly postgres: string;
  /** The statement on Postgres that reads several keys at once. */
  readonly joined?: string;
}

const program = fileURLToPath(new URL("list-queries.ts", import.meta.url));
const printed = execFileSync(process.execPath, ["--conditions=agent-source", program], {
  encoding: "utf8",
});
const queries = printed
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as ListedQuery);

test("the statements of all stores are listed", () => {
  const files = new Set(queries.map(({ file }) => file));
  expect(queries.length).toBeGreaterThan(250);
  expect(files).toContain("budget/store.ts");
  expect(files).toContain("tasks/store.ts");
});

test("no statement returns the number of a row as one of its columns", () => {
  const numbered = `(?:tasks|receipts|settlements)`;
  const all = new RegExp(
    `select \\* from "?${numbered}\\b|"?${numbered}"?\\.\\*|(?:into|update|from) "?${numbered}\\b.* returning \\*`,
    "i",
  );
  const own = queries.filter(({ postgres }) => all.test(postgres.replaceAll(/\s+/g, " ")));
  expect(own.map(({ file, postgres }) => `${file}: ${postgres}`)).toEqual([]);
});

describe("the statements of all stores", () => {
  test("every statement of every store is valid on SQLite", () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations);
    // The constructor of `Statements` defines the functions that statements call.
    expect(new Statements(db).writes).toBe(0);
    const refused = queries.flatMap(({ file, sqlite }) =>
      refusalOf(file, sqlite, () => db.prepare(sqlite)),
    );
    expect(refused).toEqual([]);
    db.close();
  });

  test("every statement of every store is valid on Postgres, with numbers that hold a timestamp", async () => {
    const client = new Client({ connectionString: await openDatabaseOf("statements") });
    await client.connect();
    const refused: string[] = [];
    const statements = queries.flatMap(({ file, postgres, joined }) => [
      { file, postgres },
      ...(joined === undefined ? [] : [{ file, postgres: joined }]),
    ]);
    expect(statements.length).toBeGreaterThan(queries.length);
    for (const { file, postgres } of statements) {
      try {
        await client.query(`PREPARE checked AS ${postgres}`);
        const { rows } = await client.query<{ types: string }>(
          "SELECT parameter_types::text AS types FROM pg_prepared_statements",
        );
        if (rows[0]?.types.includes("integer")) refused.push(`${file}: 32 bits: ${postgres}`);
        await client.query("DEALLOCATE checked");
      } catch (error) {
        refused.push(`${file}: ${(error as Error).message}: ${postgres}`);
      }
    }
    await client.end();
    expect(refused).toEqual([]);
  });
});

function refusalOf(file: string, text: string, prepare: () => unknown): string[] {
  try {
    prepare();
    return [];
  } catch (error) {
    return [`${file}: ${(error as Error).message}: ${text}`];
  }
}
