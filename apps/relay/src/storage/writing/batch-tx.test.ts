import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { openStorage } from "../open-storage.ts";
import { compile, param, sql } from "../queries/compiled-query.ts";
import { inRowForm, type KeyedTable, type TableName } from "../queries/row-form.ts";
import type { Storage, Tx } from "../storage.ts";

const schema = `
  CREATE TABLE purses (name TEXT PRIMARY KEY, coins INTEGER NOT NULL, notes INTEGER NOT NULL) STRICT;
  CREATE TABLE marks (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
  INSERT INTO purses VALUES ('a', 1, 1);`;

// Tables of this test only.
const marks = "marks" as TableName;
const purses: KeyedTable = {
  name: "purses" as TableName,
  key: ["name"],
  columns: ["name", "coins", "notes"],
};

interface Purse {
  readonly name: string;
  readonly coins: number;
  readonly notes: number;
}

const find = inRowForm(
  compile<{ name: string }>()(sql<Purse>`SELECT * FROM purses WHERE name = ${param("name")}`),
  { kind: "find", table: purses },
);
const setCoins = inRowForm(
  compile<{ name: string; coins: number }>()(
    sql<never>`UPDATE purses SET coins = ${param("coins")} WHERE name = ${param("name")}`,
  ),
  { kind: "update", table: purses, change: (_, { coins }) => ({ coins }) },
);
const setNotes = inRowForm(
  compile<{ name: string; notes: number | null }>()(
    sql<never>`UPDATE purses SET notes = ${param("notes")} WHERE name = ${param("name")}`,
  ),
  { kind: "update", table: purses, change: (_, { notes }) => ({ notes }) },
);
const open = inRowForm(
  compile<{ name: string; coins: number; notes: number }>()(
    sql<never>`INSERT INTO purses VALUES (${param("name")}, ${param("coins")}, ${param("notes")})`,
  ),
  { kind: "insert", table: purses, row: (purse) => purse },
);
const mark = inRowForm(
  compile<{ id: number; text: string }>()(
    sql<never>`INSERT INTO marks VALUES (${param("id")}, ${param("text")})`,
  ),
  { kind: "insert", table: marks, row: (row) => row },
);
const findMark = inRowForm(
  compile<{ id: number }>()(sql<{ text: string }>`SELECT * FROM marks WHERE id = ${param("id")}`),
  { kind: "find", table: { name: marks, key: ["id"], columns: ["id", "text"] } },
);
const sum = inRowForm(compile()(sql<{ coins: number }>`SELECT sum(coins) AS coins FROM purses`), {
  kind: "read",
  tables: [purses.name],
});
const formless = compile()(sql<{ coins: number }>`SELECT sum(coins) AS coins FROM purses`);
const listPurses = compile()(sql<Purse>`SELECT * FROM purses ORDER BY name`);
const listMarks = compile()(sql<{ id: number }>`SELECT id FROM marks ORDER BY id`);

describe.runIf(onlyOn("sqlite")).each(["memory", "file"])("decided in memory, %s:", (kind) => {
  let folder: string;
  let storage: Storage;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "relay-batch-"));
    const path = kind === "file" ? join(folder, "relay.db") : ":memory:";
    const opened = await openStorage({ path, migrations: [{ id: "001-purses", sql: schema }] });
    if (!opened.ok) throw new Error(opened.detail);
    ({ storage } = opened);
  });
  afterEach(async () => {
    await storage.close();
    rmSync(folder, { recursive: true });
  });

  /** Runs jobs of one batch and returns the value of each, or the code of its error. */
  async function runBatch(...jobs: readonly ((tx: Tx) => Promise<unknown>)[]): Promise<unknown[]> {
    const ends = await Promise.allSettled(jobs.map((job) => storage.transaction(job, "together")));
    return ends.map((end) =>
      end.status === "fulfilled"
        ? end.value
        : ((end.reason as { code?: string }).code ?? (end.reason as Error).message),
    );
  }

  const storedPurses = async () =>
    (await storage.read.all(listPurses, {})).map(({ name, coins, notes }) => [name, coins, notes]);
  const storedMarks = async () => (await storage.read.all(listMarks, {})).map(({ id }) => id);
  const coinsOfA = async (tx: Tx) => (await tx.get(find, { name: "a" }))?.coins;

  test("a job sees what earlier jobs have changed, and all columns are written", async () => {
    const ends = await runBatch(
      (tx) => tx.run(setCoins, { name: "a", coins: 5 }),
      coinsOfA,
      (tx) => tx.run(setNotes, { name: "a", notes: 7 }),
      (tx) => tx.run(setCoins, { name: "none", coins: 5 }),
    );
    expect(ends).toEqual([1, 5, 1, 0]);
    expect(await storedPurses()).toEqual([["a", 5, 7]]);
  });

  test("a job that is refused or throws leaves no change that later jobs can see", async () => {
    const ends = await runBatch(
      async (tx) => {
        await tx.run(setCoins, { name: "a", coins: 5 });
        await tx.run(open, { name: "b", coins: 5, notes: 5 });
        await tx.run(mark, { id: 1, text: "refused" });
        return { ok: false };
      },
      async (tx) => {
        await tx.run(setCoins, { name: "a", coins: 6 });
        throw new Error("a bug");
      },
      coinsOfA,
      (tx) => tx.get(find, { name: "b" }),
      (tx) => tx.run(mark, { id: 2, text: "kept" }),
    );
    expect(ends).toEqual([{ ok: false }, "a bug", 1, undefined, 1]);
    expect([await storedPurses(), await storedMarks()]).toEqual([[["a", 1, 1]], [2]]);
  });

  test("a new row is found and changed by later jobs, and its key is taken", async () => {
    const ends = await runBatch(
      (tx) => tx.run(open, { name: "b", coins: 1, notes: 1 }),
      (tx) => tx.run(setCoins, { name: "b", coins: 2 }),
      (tx) => tx.run(open, { name: "b", coins: 9, notes: 9 }),
    );
    expect(ends).toEqual([1, 1, "SQLITE_CONSTRAINT_PRIMARYKEY"]);
    expect(await storedPurses()).toEqual([
      ["a", 1, 1],
      ["b", 2, 1],
    ]);
  });

  test("a read of a changed table sees the changes, and so does any statement that memory cannot run", async () => {
    const ends = await runBatch(
      (tx) => tx.run(setCoins, { name: "a", coins: 5 }),
      (tx) => tx.get(sum, {}),
      (tx) => tx.all(sum, {}),
      (tx) => tx.get(formless, {}),
      async (tx) => {
        await tx.run(setCoins, { name: "a", coins: 8 });
        return tx.get(sum, {});
      },
    );
    expect(ends).toEqual([1, { coins: 5 }, [{ coins: 5 }], { coins: 5 }, { coins: 8 }]);
    expect(await storedPurses()).toEqual([["a", 8, 1]]);
  });

  test("a new row of a refused job is gone, and its key is free again", async () => {
    const ends = await runBatch(
      (tx) => tx.get(find, { name: "c" }),
      async (tx) => {
        await tx.run(open, { name: "b", coins: 5, notes: 5 });
        await tx.run(open, { name: "c", coins: 5, notes: 5 });
        return { ok: false };
      },
      (tx) => tx.get(find, { name: "b" }),
      (tx) => tx.run(open, { name: "b", coins: 1, notes: 1 }),
      (tx) => tx.run(open, { name: "c", coins: 1, notes: 1 }),
    );
    expect(ends).toEqual([undefined, { ok: false }, undefined, 1, 1]);
    expect(await storedPurses()).toEqual([
      ["a", 1, 1],
      ["b", 1, 1],
      ["c", 1, 1],
    ]);
  });

  test("a read without parameters runs again in the next batch", async () => {
    expect(await runBatch((tx) => tx.get(sum, {}))).toEqual([{ coins: 1 }]);
    await runBatch((tx) => tx.run(setCoins, { name: "a", coins: 5 }));
    expect(await runBatch((tx) => tx.get(sum, {}))).toEqual([{ coins: 5 }]);
  });

  test("a row that was added without its key is found", async () => {
    const ends = await runBatch(
      (tx) => tx.get(findMark, { id: 1 }),
      (tx) => tx.run(mark, { id: 1, text: "new" }),
      (tx) => tx.get(findMark, { id: 1 }),
    );
    expect(ends).toEqual([undefined, 1, { id: 1, text: "new" }]);
  });

  test.each([
    ["a key that is taken", (tx: Tx) => tx.run(mark, { id: 1, text: "again" }), "PRIMARYKEY"],
    [
      "the key of a row that no job has looked for",
      (tx: Tx) => tx.run(open, { name: "a", coins: 9, notes: 9 }),
      "PRIMARYKEY",
    ],
    ["a missing value", (tx: Tx) => tx.run(setNotes, { name: "a", notes: null }), "NOTNULL"],
  ])(
    "a write with %s, which only the database detects, fails its own job alone",
    async (_, fault, code) => {
      const ends = await runBatch(
        (tx) => tx.run(mark, { id: 1, text: "first" }),
        fault,
        (tx) => tx.run(setCoins, { name: "a", coins: 5 }),
      );
      expect(ends).toEqual([1, `SQLITE_CONSTRAINT_${code}`, 1]);
      expect([await storedPurses(), await storedMarks()]).toEqual([[["a", 5, 1]], [1]]);
    },
  );

  test("a refused job with a statement that memory cannot run does not make other jobs run again", async () => {
    let runs = 0;
    const ends = await runBatch(
      (tx) => {
        runs += 1;
        return tx.run(setNotes, { name: "a", notes: 3 });
      },
      async (tx) => {
        await tx.run(setCoins, { name: "a", coins: 9 });
        await tx.get(formless, {});
        return { ok: false };
      },
      async (tx) => (await tx.get(formless, {}))?.coins,
    );
    expect([ends, runs]).toEqual([[1, { ok: false }, 1], 1]);
    expect(await storedPurses()).toEqual([["a", 1, 3]]);
  });

  test("a job that awaits something else is rejected alone", async () => {
    const ends = await runBatch(
      async (tx) => {
        await tx.run(setCoins, { name: "a", coins: 5 });
        await new Promise(() => {});
      },
      (tx) => tx.run(setNotes, { name: "a", notes: 3 }),
    );
    expect(ends).toEqual(["a transaction awaited something other than its tx", 1]);
    expect(await storedPurses()).toEqual([["a", 1, 3]]);
  });

  test("a missing parameter fails its own job alone", async () => {
    const ends = await runBatch(
      (tx) => tx.run(mark, { id: 1 } as never),
      (tx) => tx.run(mark, { id: 2, text: "kept" }),
    );
    expect(ends).toEqual([expect.stringMatching(/^no value for "text"/), 1]);
    expect(await storedMarks()).toEqual([2]);
  });

  test("jobs that run statement by statement come first, and a refused one changes nothing", async () => {
    const refused = storage.transaction(async (tx) => {
      await tx.run(setCoins, { name: "a", coins: 9 });
      return { ok: false };
    });
    const kept = storage.transaction((tx) => tx.run(setNotes, { name: "a", notes: 4 }));
    const [seen] = await runBatch((tx) => tx.get(find, { name: "a" }));
    expect([await refused, await kept]).toEqual([{ ok: false }, 1]);
    expect(seen).toEqual({ name: "a", coins: 1, notes: 4 });
  });
});
