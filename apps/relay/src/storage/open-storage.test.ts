import { execFile } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdtempSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { onlyOn } from "../../test/engine/engine.ts";
import { APPLICATION_ID } from "./database/build-schema.ts";
import { inspectDatabase } from "./database/inspect-database.ts";
import { openStorage } from "./open-storage.ts";
import { param, compile, sql } from "./queries/compiled-query.ts";
import type { Storage } from "./storage.ts";

const run = promisify(execFile);

const migrations = [
  {
    id: "001-notes",
    sql: `CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
          CREATE INDEX notes_by_text ON notes (text)`,
  },
  { id: "002-colour", sql: "ALTER TABLE notes ADD COLUMN colour TEXT" },
];

const insert = compile<{ id: number; text: string }>()(
  sql<never>`INSERT INTO notes (id, text) VALUES (${param("id")}, ${param("text")})`,
);
const count = compile()(sql<{ notes: number }>`SELECT count(*) AS notes FROM notes`);

let directory: string;
let path: string;

const open = (at = path, steps = migrations) => openStorage({ path: at, migrations: steps });

async function opened(at = path, steps = migrations): Promise<Storage> {
  const result = await open(at, steps);
  if (!result.ok) throw new Error(result.detail);
  return result.storage;
}

/** A closed database with 500 notes: its content is in the one file. */
async function filled(steps = migrations): Promise<void> {
  const storage = await opened(path, steps);
  await storage.transaction(async (tx) => {
    for (let id = 0; id < 500; id++) await tx.run(insert, { id, text: `note ${id}`.repeat(20) });
  });
  await storage.close();
}

const mode = (file: string) => statSync(file).mode & 0o777;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "relay-open-"));
  path = join(directory, "relay.db");
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe.runIf(onlyOn("sqlite"))("a database that is opened", () => {
  test("openStorage creates a database on the first start and opens it on the next", async () => {
    const first = await open();
    expect(first).toMatchObject({ ok: true, migrated: ["001-notes", "002-colour"] });
    if (first.ok) await first.storage.close();
    await filled();
    const next = await open();
    expect(next).toMatchObject({ ok: true, migrated: [] });
    if (!next.ok) return;
    expect(await next.storage.read.get(count, {})).toEqual({ notes: 500 });
    await next.storage.close();
  });

  test("openStorage migrates a database of an older schema with its rows", async () => {
    await filled(migrations.slice(0, 1));
    const next = await open();
    expect(next).toMatchObject({ ok: true, migrated: ["002-colour"] });
    if (!next.ok) return;
    expect(await next.storage.read.get(count, {})).toEqual({ notes: 500 });
    await next.storage.close();
  });

  test("only the owner can read and write the files of a database, even restored ones", async () => {
    await filled();
    chmodSync(path, 0o644);
    const storage = await opened();
    await storage.transaction((tx) => tx.run(insert, { id: 900, text: "" }));
    const files = readdirSync(directory).sort();
    expect(files).toEqual(["relay.db", "relay.db-lock", "relay.db-shm", "relay.db-wal"]);
    expect(files.map((file) => mode(join(directory, file)))).toEqual(files.map(() => 0o600));
    await storage.close();
  });

  test("openStorage creates a database although a draft file was left over", async () => {
    const elsewhere = join(directory, "elsewhere");
    writeFileSync(elsewhere, "untouched");
    symlinkSync(elsewhere, `${path}-new`);
    await (await opened()).close();
    expect(readFileSync(elsewhere, "utf8")).toBe("untouched");
    expect(lstatSync(path).isSymbolicLink()).toBe(false);
  });

  test("openStorage creates no file when the disk has no room for the database", async () => {
    const program = `
      import { createDatabase } from ${JSON.stringify(new URL("database/create-database.ts", import.meta.url))};
      createDatabase(${JSON.stringify(path)}, []);`;
    const node = [process.execPath, "--conditions=agent-source", "--input-type=module", "-e"];
    // The disk is a file of at most one block: the rest is not written, and causes no signal.
    const limited = 'trap "" XFSZ; ulimit -f 1; exec "$@"';
    const made = run("/bin/sh", ["-c", limited, "sh", ...node, program]);
    await expect(made).rejects.toThrow("EFBIG");
    expect(readdirSync(directory)).not.toContain("relay.db");
    await (await opened()).close();
  });

  test("the write-ahead log is synchronised at each commit", async () => {
    const storage = await opened();
    const pragma = compile()(
      sql<{ mode: string; sync: number; keys: number }>`
        SELECT journal_mode AS mode, synchronous AS sync, foreign_keys AS keys
        FROM pragma_journal_mode, pragma_synchronous, pragma_foreign_keys`,
    );
    const full = 2;
    expect(await storage.transaction((tx) => tx.get(pragma, {}))).toEqual({
      mode: "wal",
      sync: full,
      keys: 1,
    });
    await storage.close();
  });

  test("a database in memory starts empty each time", async () => {
    const storage = await opened(":memory:");
    await storage.transaction((tx) => tx.run(insert, { id: 1, text: "" }));
    await storage.close();
    const again = await opened(":memory:");
    expect(await again.read.get(count, {})).toEqual({ notes: 0 });
    await again.close();
  });
});

describe.runIf(onlyOn("sqlite"))("a second relay", () => {
  test("openStorage refuses a second relay while the first one runs, even if it opens the file through links", async () => {
    const link = join(directory, "link.db");
    const first = await opened();
    symlinkSync(path, link);
    expect(await open()).toMatchObject({ ok: false, code: "database.locked" });
    expect(await open(link)).toMatchObject({ ok: false, code: "database.locked" });
    await first.transaction((tx) => tx.run(insert, { id: 1, text: "" }));
    await first.close();
    await (await opened(link)).close();
  });
});

const page = 4096;

/** Each damages a whole database of 500 notes. */
const spoiled: [name: string, code: string, spoil: () => void][] = [
  ["is empty", "database.damaged", () => truncateSync(path, 0)],
  ["was cut short", "database.damaged", () => truncateSync(path, 5 * page + 100)],
  ["lost its tail", "database.damaged", () => truncateSync(path, 20 * page)],
  ["has noise in its first page", "database.damaged", () => overwrite(100, page - 100)],
  ["has noise for a header", "database.foreign", () => overwrite(0, 100)],
  ["is a text", "database.foreign", () => writeFileSync(path, "not a database\n".repeat(999))],
  ["is another program's", "database.foreign", () => change("PRAGMA application_id = 7")],
  ["lacks a table", "database.damaged", () => change("DROP TABLE notes")],
  ["lacks an index", "database.damaged", () => change("DROP INDEX notes_by_text")],
  ["lacks a column", "database.damaged", () => change("ALTER TABLE notes DROP COLUMN colour")],
  [
    "is of a newer version",
    "database.newer",
    () => change("INSERT INTO schema_migrations (id) VALUES ('003-later')"),
  ],
];

function overwrite(from: number, length: number): void {
  const bytes = readFileSync(path);
  bytes.fill(0x5a, from, from + length);
  writeFileSync(path, bytes);
}

function change(statement: string): void {
  const db = new Sqlite(path);
  db.exec(statement);
  db.close();
}

describe.runIf(onlyOn("sqlite"))("a file that is not a whole database of this schema", () => {
  test.each(spoiled)(
    "openStorage refuses and does not change a file that %s",
    async (_, code, spoil) => {
      await filled();
      spoil();
      const before = readFileSync(path);
      const refused = await open();
      expect(refused).toMatchObject({ ok: false, code });
      expect(refused).toHaveProperty("detail", expect.stringContaining(path));
      expect(readFileSync(path)).toEqual(before);
      // The files are not locked after a refusal.
      expect(await open()).toMatchObject({ ok: false, code });
    },
  );

  test("openStorage refuses a database of which only the write-ahead log is left", async () => {
    const storage = await opened();
    await storage.transaction((tx) => tx.run(insert, { id: 1, text: "" }));
    const elsewhere = join(directory, "elsewhere.db");
    copyFileSync(`${path}-wal`, `${elsewhere}-wal`);
    await storage.close();
    expect(await open(elsewhere)).toMatchObject({ ok: false, code: "database.damaged" });
  });

  test.each([
    ["a directory", () => (mkdirSync(path), path), "database.foreign"],
    [
      "in a folder that does not exist",
      () => join(directory, "none", "relay.db"),
      "database.unusable",
    ],
    ["below a file", () => (writeFileSync(path, ""), join(path, "relay.db")), "database.unusable"],
  ])("openStorage refuses a path that is %s", async (_, make, code) => {
    expect(await open(make())).toMatchObject({ ok: false, code });
  });
});

describe.runIf(onlyOn("sqlite"))("inspection", () => {
  test("the database of a running relay can be inspected, with the names of its migrations", async () => {
    const storage = await opened();
    expect(inspectDatabase({ path, migrations, check: "full" })).toEqual({
      ok: true,
      exists: true,
      applied: [
        { id: "001-notes", oldest: 1 },
        { id: "002-colour", oldest: 2 },
      ],
    });
    await storage.close();
  });

  test("an inspection of a file that does not exist yet is accepted", () => {
    expect(inspectDatabase({ path, migrations })).toEqual({ ok: true, exists: false, applied: [] });
    expect(readdirSync(directory)).toEqual([]);
  });

  test("a full inspection finds an index that differs from its table", async () => {
    await filled();
    const db = new Sqlite(path).unsafeMode();
    db.pragma("writable_schema = ON");
    db.exec(
      "UPDATE sqlite_schema SET sql = 'CREATE INDEX notes_by_text ON notes (colour)' WHERE name = 'notes_by_text'",
    );
    db.close();
    expect(inspectDatabase({ path, migrations })).toMatchObject({ ok: true });
    expect(inspectDatabase({ path, migrations, check: "full" })).toMatchObject({
      ok: false,
      code: "database.damaged",
    });
  });

  test("a full inspection finds a page of random bytes in a table that no start reads", async () => {
    await filled();
    overwrite(6 * page, page);
    expect(inspectDatabase({ path, migrations })).toMatchObject({ ok: true });
    expect(inspectDatabase({ path, migrations, check: "full" })).toMatchObject({
      ok: false,
      code: "database.damaged",
    });
  });
});

test.runIf(onlyOn("sqlite"))("the application id of the file is that of the relay", async () => {
  await filled();
  expect(readFileSync(path).readInt32BE(68)).toBe(APPLICATION_ID);
});
