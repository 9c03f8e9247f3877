import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase, dropDatabase } from "@agent/test-postgres";
import { engine, getServer, isWholeRun } from "../../test/engine/engine.ts";
import { openStorage, type DatabaseLocation } from "./open-storage.ts";
import { compile, sql } from "./queries/compiled-query.ts";

const migrations = [
  {
    id: "001-notes",
    sql: "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
  },
];

/** Eight writers print each id once it is acknowledged; two more writers are always refused. */
const program = `
  import { openStorage } from ${JSON.stringify(new URL("open-storage.ts", import.meta.url))};
  import { compile, param, sql } from ${JSON.stringify(new URL("queries/compiled-query.ts", import.meta.url))};
  const [place, migrations] = JSON.parse(process.argv[1]);
  const insert = compile()(sql\`INSERT INTO notes VALUES (\${param("id")}, \${param("text")})\`);
  const opened = await openStorage({ ...place, migrations });
  if (!opened.ok) { console.log(opened.code); process.exit(1); }
  let next = 0;
  let refused = 0;
  for (let hand = 0; hand < 2; hand++) void (async () => {
    for (;;) {
      await opened.storage.transaction(async (tx) => {
        await tx.run(insert, { id: --refused, text: "refused" });
        return { ok: false };
      });
    }
  })();
  for (let hand = 0; hand < 8; hand++) void (async () => {
    for (;;) {
      const id = next++;
      await opened.storage.transaction((tx) => tx.run(insert, { id, text: "x".repeat(1500) }));
      process.stdout.write(id + "\\n");
    }
  })();
`;

const ids = compile()(sql<{ id: number }>`SELECT id FROM notes ORDER BY id`);

/** As many acknowledged rows as an engine writes in a second or two. */
const ENOUGH = engine === "sqlite" || isWholeRun ? 2_000 : 500;

let directory: string;
let place: DatabaseLocation;
let child: ChildProcess | undefined;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "relay-crash-"));
  place =
    engine === "postgres"
      ? { url: await createDatabase(getServer().serverUrl, basename(directory)) }
      : { path: join(directory, "relay.db") };
});

afterEach(async () => {
  child?.kill("SIGKILL");
  if (engine === "postgres") await dropDatabase(getServer().serverUrl, basename(directory));
  rmSync(directory, { recursive: true });
});

function startWriter() {
  const args = ["--conditions=agent-source", "--input-type=module", "-e", program];
  const started = spawn(process.execPath, [...args, JSON.stringify([place, migrations])], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  child = started;
  return { process: started, lines: createInterface({ input: started.stdout }) };
}

test("every acknowledged row and no refused one is stored after kill -9, and the lock is free", async () => {
  const writer = startWriter();
  const acknowledged: number[] = [];
  for await (const line of writer.lines) {
    acknowledged.push(Number(line));
    if (acknowledged.length === ENOUGH) writer.process.kill("SIGKILL");
  }

  const opened = await openStorage({ ...place, migrations });
  if (!opened.ok) throw new Error(opened.detail);
  const stored = new Set((await opened.storage.read.all(ids, {})).map(({ id }) => id));
  await opened.storage.close();
  expect(acknowledged.length).toBeGreaterThanOrEqual(ENOUGH);
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  expect([...stored].filter((id) => id < 0)).toEqual([]);
});

test("a second process is refused while the first one writes", async () => {
  const writer = startWriter();
  await once(writer.lines, "line");
  expect(await openStorage({ ...place, migrations })).toMatchObject({
    ok: false,
    code: "database.locked",
  });
});
