import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { removeStored } from "../../../test/engine/stored.ts";
import { openMigrated } from "../../../test/stored/migrated-storage.ts";
import type { CommitUnit } from "./batch-runner.ts";
import { createGroupCommit, type GroupCommit } from "./group-commit.ts";
import { openStorage } from "../open-storage.ts";
import { param, compile, sql } from "../queries/compiled-query.ts";
import { createReader } from "../reader.ts";
import { Statements } from "../queries/statements.ts";
import type { Reader, Storage, Tx } from "../storage.ts";

const schema = `
  CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
  CREATE TABLE purses (name TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT;
  INSERT INTO purses VALUES ('left', 1000), ('right', 0);`;

const insert = compile<{ id: number; text: string }>()(
  sql<never>`INSERT INTO notes (id, text) VALUES (${param("id")}, ${param("text")})`,
);
const ids = compile()(sql<{ id: number }>`SELECT id FROM notes ORDER BY id`);
const add = compile<{ name: string; amount: number }>()(
  sql<never>`UPDATE purses SET amount = amount + ${param("amount")} WHERE name = ${param("name")}`,
);
const addAndShow = compile<{ name: string; amount: number }>()(
  sql<{ amount: number }>`
    UPDATE purses SET amount = amount + ${param("amount")} WHERE name = ${param("name")}
    RETURNING amount`,
);
const purses = compile()(
  sql<{ left: number; right: number }>`
    SELECT (SELECT amount FROM purses WHERE name = 'left') AS "left",
      (SELECT amount FROM purses WHERE name = 'right') AS "right"`,
);

const ISOLATIONS = ["serializable", "locked"] as const;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relay-group-"));
  path = join(folder, "relay.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.runIf(onlyOn("sqlite"))(
  "between the two runs of a batch with a job that is rolled back,",
  () => {
    let db: Database;
    let outside: Database;
    let group: GroupCommit;
    let read: Reader;
    /** This happens right before the second run begins. */
    let meanwhile: () => void;
    let runs: number;

    beforeEach(() => {
      new Sqlite(path).exec(`PRAGMA journal_mode = WAL; ${schema}`).close();
      db = new Sqlite(path, { timeout: 5 });
      outside = new Sqlite(path, { timeout: 0 });
      runs = 0;
      meanwhile = () => {};
      const unit: CommitUnit = {
        begin() {
          if (runs === 1) meanwhile();
          db.exec("BEGIN IMMEDIATE");
          runs += 1;
        },
        commit: () => void db.exec("COMMIT"),
        rollback: () => void (db.inTransaction && db.exec("ROLLBACK")),
      };
      const statements = new Statements(db);
      group = createGroupCommit(db, statements, unit);
      read = createReader(db, statements, group.runBetweenBatches);
    });
    afterEach(async () => {
      await group.close();
      db.close();
      outside.close();
    });

    const write = (id: number, text = "") =>
      group.transaction((tx) => tx.run(insert, { id, text }));
    const refused = (id: number) =>
      group.transaction(async (tx) => {
        await tx.run(insert, { id, text: "" });
        return { ok: false, code: "note.refused" };
      });
    const stored = async () => (await read.all(ids, {})).map(({ id }) => id);
    const once = (work: () => void) => {
      let done = false;
      return () => {
        if (!done) work();
        done = true;
      };
    };

    test("a short write of another process only delays the second run", async () => {
      meanwhile = once(() => {
        outside.exec("BEGIN IMMEDIATE");
        outside.exec("INSERT INTO notes VALUES (9, 'outside')");
        setTimeout(() => outside.exec("COMMIT"), 40);
      });
      const done = await Promise.all([write(1), refused(2), write(3)]);
      expect(done).toEqual([1, { ok: false, code: "note.refused" }, 1]);
      expect(await stored()).toEqual([1, 3, 9]);
    });

    test("the second run reads the writes of another process", async () => {
      meanwhile = once(() => void outside.exec("INSERT INTO notes VALUES (9, 'outside')"));
      const seen = group.transaction((tx) => tx.all(ids, {}));
      const taken = group.transaction((tx) => tx.run(insert, { id: 9, text: "too late" }));
      const [first, last] = await Promise.allSettled([seen, taken, refused(2), write(3)]);
      expect(first).toEqual({ status: "fulfilled", value: [{ id: 9 }] });
      expect(last).toMatchObject({ status: "rejected", reason: { code: /CONSTRAINT/ } });
      expect(await stored()).toEqual([3, 9]);
    });

    test("a long write of another process fails and rolls back the whole batch", async () => {
      meanwhile = once(() => void outside.exec("BEGIN IMMEDIATE"));
      const settled = await Promise.allSettled([write(1), refused(2), write(3)]);
      for (const one of settled) {
        expect(one).toMatchObject({ status: "rejected", reason: { name: "StorageUnavailable" } });
      }
      outside.exec("ROLLBACK");
      expect(await stored()).toEqual([]);
      await write(4);
      expect(await stored()).toEqual([4]);
    });

    test.each<[string, (tx: Tx, name: string) => Promise<unknown>]>([
      ["a statement that changes rows", (tx, name) => tx.run(add, { name, amount: 1 })],
      ["a statement that returns a row", (tx, name) => tx.get(addAndShow, { name, amount: 1 })],
      ["a statement that returns rows", (tx, name) => tx.all(addAndShow, { name, amount: 1 })],
    ])("a refused job with %s is rolled back only if it had changed a row", async (_, change) => {
      const refuse = (name: string) =>
        group.transaction(async (tx) => {
          await change(tx, name);
          return { ok: false };
        });
      await Promise.all([write(1), refuse("none"), write(2)]);
      expect([runs, await stored()]).toEqual([1, [1, 2]]);
      await Promise.all([write(3), refuse("left"), write(4)]);
      expect([runs, await stored()]).toEqual([3, [1, 2, 3, 4]]);
      expect(await read.get(purses, {})).toEqual({ left: 1_000, right: 0 });
    });

    test("a full disk fails and rolls back the whole batch", async () => {
      await group.transaction((tx) => tx.run(insert, { id: 0, text: "before" }));
      runs = 0;
      const { page_count: pages } = db.prepare("PRAGMA page_count").get() as { page_count: number };
      meanwhile = once(() => void db.exec(`PRAGMA max_page_count = ${pages}`));
      const long = "x".repeat(100_000);
      const settled = await Promise.allSettled([write(1), refused(2), write(3, long), write(4)]);
      for (const one of settled) {
        expect(one).toMatchObject({
          status: "rejected",
          reason: { cause: { code: "SQLITE_FULL" } },
        });
      }
      expect(await stored()).toEqual([0]);
      await write(5);
      expect(await stored()).toEqual([0, 5]);
    });

    test("reads still run, and see neither rows that were rolled back nor later ones", async () => {
      const seen: Promise<number[]>[] = [];
      const watched = group.transaction(async (tx) => {
        await tx.run(insert, { id: 1, text: "" });
        seen.push(stored());
      });
      await Promise.all([watched, refused(2)]);
      const [between, after] = await Promise.all(seen);
      expect([between, after]).toEqual([[], [1]]);
    });

    test("a job that awaits something else only in the second run is rejected alone", async () => {
      let times = 0;
      const astray = group.transaction(async (tx) => {
        await tx.run(insert, { id: 1, text: "" });
        times += 1;
        if (times === 2) await new Promise(() => {});
      });
      const settled = await Promise.allSettled([astray, refused(2), write(3)]);
      expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
      expect([times, await stored()]).toEqual([2, [3]]);
    });
  },
);

const kindsOfStorage = onlyOn("postgres") ? ISOLATIONS : (["memory", "file"] as const);

describe.each(kindsOfStorage)("a mixed batch, %s:", (kind) => {
  const isolation = ISOLATIONS.find((each) => each === kind);
  const migrations = [{ id: "001-purses", sql: schema }];
  let storage: Storage;
  let nextId: number;
  beforeEach(async () => {
    const opened =
      isolation === undefined
        ? await openStorage({ path: kind === "file" ? path : ":memory:", migrations })
        : await openMigrated({ path, migrations });
    if (!opened.ok) throw new Error(opened.detail);
    ({ storage } = opened);
    nextId = 1;
  });
  afterEach(async () => {
    await storage.close();
    await removeStored(path);
  });

  /** Moves 1 from purse to purse, notes it under its own id, and ends in its own way. */
  const move = (id: number, look: () => void, end: (tx: Tx) => unknown) =>
    storage.transaction(async (tx) => {
      await tx.run(add, { name: "left", amount: -1 });
      look();
      await tx.run(insert, { id, text: "moved" });
      await tx.run(add, { name: "right", amount: 1 });
      return end(tx);
    }, isolation);

  const ends = {
    kept: () => ({ ok: true }),
    refused: () => ({ ok: false }),
    thrown: () => {
      throw new Error("a bug");
    },
    astray: () => new Promise(() => {}),
    clashing: (tx: Tx) => tx.run(insert, { id: 0, text: "taken" }),
    careful: (tx: Tx) => tx.run(insert, { id: 0, text: "taken" }).catch(() => undefined),
  } as const;
  type Kind = keyof typeof ends | "idle";
  const isKept = (one: Kind) => one === "kept" || one === "careful";

  async function expectRound(kinds: readonly Kind[]): Promise<void> {
    const before = new Set((await storage.read.all(ids, {})).map(({ id }) => id));
    const looks: Promise<{ left: number; right: number } | undefined>[] = [];
    const look = () => void looks.push(storage.read.get(purses, {}));
    const jobs = kinds.map((one) => ({ one, id: (nextId += 1) }));
    const settled = await Promise.allSettled(
      jobs.map(({ one, id }) =>
        one === "idle"
          ? storage.transaction(async () => ({ ok: false }), isolation)
          : move(id, look, ends[one]),
      ),
    );
    const after = (await storage.read.all(ids, {})).map(({ id }) => id);
    const kept = jobs.filter(({ one }) => isKept(one)).map(({ id }) => id);
    expect(after.filter((id) => !before.has(id))).toEqual(kept);
    expect(await storage.read.get(purses, {})).toEqual({
      left: 1000 - after.filter((id) => id > 0).length,
      right: after.filter((id) => id > 0).length,
    });
    const failed = jobs.map(({ one }) => ["thrown", "astray", "clashing"].includes(one));
    expect(settled.map(({ status }) => status === "rejected")).toEqual(failed);
    // No read sees half of a move.
    const seen = (await Promise.all(looks)).map((both) => [both?.left ?? 0, both?.right ?? 0]);
    expect(seen.filter(([left = 0, right = 0]) => left + right !== 1000)).toEqual([]);
    // Reads of SQLite come between two transactions, in their order; those of Postgres on many connections.
    if (onlyOn("postgres")) return;
    expect(seen).toEqual(seen.toSorted(([, one = 0], [, other = 0]) => one - other));
  }

  test("a mixed batch applies each committed job once and all others never, and no read sees part of a job", async () => {
    await storage.transaction((tx) => tx.run(insert, { id: 0, text: "taken" }));
    const kinds = fc.constantFrom<Kind>(
      "kept",
      "kept",
      "refused",
      "thrown",
      "clashing",
      "careful",
      "idle",
      "astray",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(kinds, { minLength: 1, maxLength: 12 }), expectRound),
      {
        numRuns: 40,
      },
    );
  });

  test("a mixed batch rolls back 1,000 refusals among 500 committed jobs", async () => {
    await expectRound(
      Array.from({ length: 1_500 }, (_, at) =>
        at % 3 === 0 ? "kept" : at % 2 === 0 ? "refused" : "idle",
      ),
    );
  });
});
