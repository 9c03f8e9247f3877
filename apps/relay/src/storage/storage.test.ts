import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createDatabase, dropDatabase } from "@agent/test-postgres";
import { engine, getServer, onlyOn } from "../../test/engine/engine.ts";
import { openStorage } from "./open-storage.ts";
import { param, compile, sql } from "./queries/compiled-query.ts";
import { StorageUnavailable, type Storage, type Tx } from "./storage.ts";

const migrations = [
  {
    id: "001-notes",
    sql: "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
  },
];

const insert = compile<{ id: number; text: string }>()(
  sql<never>`INSERT INTO notes (id, text) VALUES (${param("id")}, ${param("text")})`,
);
const insertTwice = compile<{ id: number; text: string }>()(
  sql<never>`INSERT INTO notes SELECT ${param("id")} + n, ${param("text")} FROM (SELECT 0 AS n UNION SELECT 1)`,
);
const change = compile<{ text: string }>()(sql<never>`UPDATE notes SET text = ${param("text")}`);
const find = compile<{ id: number }>()(
  sql<{ text: string }>`SELECT text FROM notes WHERE id = ${param("id")}`,
);
const ids = compile()(sql<{ id: number }>`SELECT id FROM notes ORDER BY id`);

const limitTo = (pages: number) =>
  compile()(sql<{ max_page_count: number }>`PRAGMA max_page_count = ${sql.lit(pages)}`);

const kinds = engine === "postgres" ? ["postgres"] : ["memory", "file"];

let directory: string;
let storage: Storage;

/** Opens a new database in memory, in a file, or on the server of the test run. */
async function openKind(kind: string): Promise<Storage> {
  if (kind !== "postgres")
    return open(kind === "memory" ? ":memory:" : join(directory, "relay.db"));
  const name = basename(directory).toLowerCase();
  return open(undefined, await createDatabase(getServer().serverUrl, name));
}

async function open(path?: string, url?: string): Promise<Storage> {
  const opened = await openStorage({ path, url, migrations });
  if (!opened.ok) throw new Error(opened.detail);
  return opened.storage;
}

const write = (id: number, text = "") => storage.transaction((tx) => tx.run(insert, { id, text }));

const stored = async () => (await storage.read.all(ids, {})).map(({ id }) => id);

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "relay-storage-"));
});

afterEach(async () => {
  await storage?.close();
  if (engine === "postgres") {
    await dropDatabase(getServer().serverUrl, basename(directory).toLowerCase());
  }
  rmSync(directory, { recursive: true });
});

describe.each(kinds)("transactions, %s", (kind) => {
  beforeEach(async () => {
    storage = await openKind(kind);
  });

  test("get returns one row or undefined, all returns rows, run returns the number of changed rows", async () => {
    await write(1, "one");
    await write(2, "two");
    expect(await storage.read.get(find, { id: 1 })).toEqual({ text: "one" });
    expect(await storage.read.get(find, { id: 9 })).toBeUndefined();
    expect(await stored()).toEqual([1, 2]);
    expect(await storage.transaction((tx) => tx.run(change, { text: "" }))).toBe(2);
  });

  test("a read after the acknowledgement sees the writes", async () => {
    const stale: number[] = [];
    const worker = async (first: number) => {
      for (let id = first; id < first + 50; id++) {
        await write(id, `note ${id}`);
        if ((await storage.read.get(find, { id })) === undefined) stale.push(id);
      }
    };
    await Promise.all([0, 100, 200, 300].map(worker));
    expect(stale).toEqual([]);
    expect(await stored()).toHaveLength(200);
  });

  test("a transaction sees its own writes and a concurrent read only committed rows", async () => {
    let beside: Promise<number[]> | undefined;
    await storage.transaction(async (tx) => {
      await tx.run(insert, { id: 1, text: "" });
      beside = stored();
      for (let turns = 0; turns < 20; turns++) await tx.all(ids, {});
      expect(await tx.all(ids, {})).toEqual([{ id: 1 }]);
      return { ok: false };
    });
    expect(await beside).toEqual([]);
  });

  test("transactions run one after another in the order of arrival", async () => {
    const log: string[] = [];
    const run = (name: string) =>
      storage.transaction(async (tx) => {
        log.push(`${name} begins`);
        await tx.all(ids, {});
        await tx.all(ids, {});
        log.push(`${name} ends`);
      });
    await Promise.all([run("a"), run("b"), run("c")]);
    expect(log).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

  test("a transaction that throws or returns {ok: false} is rolled back, and its neighbours are committed", async () => {
    const refused = storage.transaction(async (tx) => {
      await tx.run(insert, { id: 2, text: "" });
      await tx.run(change, { text: "changed" });
      return { ok: false, code: "note.refused" };
    });
    const thrown = storage.transaction(async (tx) => {
      await tx.run(insert, { id: 3, text: "" });
      throw new Error("a bug");
    });
    const settled = await Promise.allSettled([write(1, "one"), refused, thrown, write(4)]);
    expect(settled).toEqual([
      { status: "fulfilled", value: 1 },
      { status: "fulfilled", value: { ok: false, code: "note.refused" } },
      { status: "rejected", reason: new Error("a bug") },
      { status: "fulfilled", value: 1 },
    ]);
    expect(await stored()).toEqual([1, 4]);
    expect(await storage.read.get(find, { id: 1 })).toEqual({ text: "one" });
  });

  test("a transaction that catches a failed statement still commits its other statements", async () => {
    await write(1);
    const taken = await storage.transaction(async (tx) => {
      await tx.run(insert, { id: 2, text: "" });
      return tx.run(insert, { id: 1, text: "" }).catch((error: Error) => error.message);
    });
    expect(taken).toMatch(/unique/i);
    expect(await stored()).toEqual([1, 2]);
  });

  test("a transaction that awaits anything except its tx is rejected, and its neighbours are committed", async () => {
    let late: Promise<unknown> | undefined;
    const slow = storage.transaction(async (tx) => {
      await tx.run(insert, { id: 1, text: "" });
      await sleep(30);
      late = tx.run(insert, { id: 2, text: "" });
      await late;
    });
    const results = await Promise.allSettled([slow, write(3), write(4)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    await expect(slow).rejects.toThrow("other than its tx");
    expect(await stored()).toEqual([3, 4]);
    await vi.waitFor(() => expect(late).toBeDefined());
    await expect(late).rejects.toThrow("this transaction is over");
    expect(await stored()).toEqual([3, 4]);
  });

  test("a transaction inside a transaction is rejected", async () => {
    const nested = storage.transaction(async (tx) => {
      await tx.run(insert, { id: 1, text: "" });
      await write(2);
    });
    await expect(nested).rejects.toThrow("other than its tx");
    expect(await stored()).not.toContain(1);
  });

  test("a tx is closed when its transaction ends", async () => {
    let kept: Tx | undefined;
    await storage.transaction(async (tx) => {
      kept = tx;
    });
    await expect(kept?.run(insert, { id: 1, text: "" })).rejects.toThrow(
      "this transaction is over",
    );
    expect(await stored()).toEqual([]);
  });

  test("a batch runs again when one job must be rolled back, and each job is applied once", async () => {
    const runs = { neighbour: 0, refused: 0 };
    const neighbour = () =>
      storage.transaction(async (tx) => {
        runs.neighbour += 1;
        return tx.run(insert, { id: 1, text: "" });
      });
    const refused = () =>
      storage.transaction(async (tx) => {
        runs.refused += 1;
        await tx.run(insert, { id: 2, text: "" });
        return { ok: false };
      });
    await Promise.all([neighbour(), refused()]);
    expect(await stored()).toEqual([1]);
    expect(runs).toEqual({ neighbour: 2, refused: 2 });
  });

  test("a read during a batch that runs twice sees only committed rows", async () => {
    const beside: Promise<number[]>[] = [];
    const busyWith = (id: number) => async (tx: Tx) => {
      await tx.run(insert, { id, text: "" });
      for (let turns = 0; turns < 20; turns++) {
        beside.push(stored());
        await tx.all(ids, {});
      }
      return { ok: id === 1 };
    };
    await Promise.all([storage.transaction(busyWith(1)), storage.transaction(busyWith(2))]);
    expect(beside).toHaveLength(80);
    const committed = ["", "1"];
    const read = (await Promise.all(beside)).map(String);
    expect(read.filter((ids) => !committed.includes(ids))).toEqual([]);
  });

  test("a refusal without writes and a single transaction run only once", async () => {
    const runs = { reader: 0, alone: 0 };
    const reader = storage.transaction(async (tx) => {
      runs.reader += 1;
      await tx.get(find, { id: 1 });
      return { ok: false };
    });
    await Promise.all([write(1), reader, write(2)]);
    await storage.transaction(async (tx) => {
      runs.alone += 1;
      await tx.run(insert, { id: 3, text: "" });
      return { ok: false };
    });
    expect(runs).toEqual({ reader: 1, alone: 1 });
    expect(await stored()).toEqual([1, 2]);
  });

  test("more transactions than fit into one batch are committed", async () => {
    const many = Array.from({ length: 1_234 }, (_, id) => id);
    await Promise.all(many.map((id) => write(id)));
    expect(await stored()).toEqual(many);
  });

  test("close finishes accepted transactions and refuses later ones", async () => {
    const accepted = write(1);
    const closing = storage.close();
    await expect(write(2)).rejects.toThrow(StorageUnavailable);
    await closing;
    expect(await accepted).toBe(1);
  });
});

describe.runIf(onlyOn("sqlite"))("a database file", () => {
  beforeEach(async () => {
    storage = await open(join(directory, "relay.db"));
  });

  test("all transactions of one turn are committed at once", async () => {
    const log = join(directory, "relay.db-wal");
    const grown = async (work: () => Promise<unknown>) => {
      const before = statSync(log).size;
      await work();
      return statSync(log).size - before;
    };
    const ids = Array.from({ length: 50 }, (_, id) => id);
    const together = await grown(() => Promise.all(ids.map((id) => write(id))));
    const alone = await grown(async () => {
      for (const id of ids) await write(100 + id);
    });
    // A commit appends each page that it changed.
    expect(together * 10).toBeLessThan(alone);
  });

  test("the storage waits for a short lock of another program, and is unavailable after a long one", async () => {
    const outside = new Sqlite(join(directory, "relay.db"));
    outside.exec("BEGIN IMMEDIATE");
    const waiting = write(1);
    await sleep(120);
    expect(await stored()).toEqual([]);
    outside.exec("COMMIT");
    expect(await waiting).toBe(1);

    outside.exec("BEGIN IMMEDIATE");
    await expect(write(2)).rejects.toThrow(StorageUnavailable);
    outside.exec("ROLLBACK");
    outside.close();
    await write(3);
    expect(await stored()).toEqual([1, 3]);
  });

  describe("on a full disk, when SQLite may roll everything back by itself", () => {
    const tooLong = "x".repeat(1_000_000);

    beforeEach(async () => {
      await storage.transaction((tx) => tx.get(limitTo(20), {}));
    });

    test("the whole batch fails as unavailable with the cause on a full disk, and the next one is committed", async () => {
      const settled = await Promise.allSettled([write(1), write(2, tooLong), write(3)]);
      for (const result of settled) {
        expect(result).toMatchObject({
          status: "rejected",
          reason: {
            // An operator reads the message in the log, where nothing else names the cause.
            message: "the database could not write: database or disk is full",
            cause: { code: "SQLITE_FULL" },
          },
        });
      }
      await expect(write(4, tooLong)).rejects.toThrow(StorageUnavailable);
      await write(5);
      expect(await stored()).toEqual([5]);
    });

    test("a transaction that ignores the error cannot write outside the batch", async () => {
      const unaware = storage.transaction(async (tx) => {
        await tx.run(insert, { id: 1, text: tooLong }).catch(() => undefined);
        await tx.run(insert, { id: 2, text: "" }).catch(() => undefined);
      });
      await expect(unaware).rejects.toThrow(StorageUnavailable);
      expect(await stored()).toEqual([]);
    });

    test("a statement of many rows that SQLite rolls back alone does not affect its neighbours", async () => {
      const many = storage.transaction((tx) => tx.run(insertTwice, { id: 2, text: tooLong }));
      const settled = await Promise.allSettled([write(1), many, write(4)]);
      expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      await expect(many).rejects.toThrow(StorageUnavailable);
      expect(await stored()).toEqual([1, 4]);
    });
  });
});

describe.runIf(onlyOn("sqlite"))("a database in memory", () => {
  beforeEach(async () => {
    storage = await open(":memory:");
  });

  test("a database in memory that runs out of memory closes, because acknowledged rows are lost", async () => {
    await write(1);
    await storage.transaction((tx) => tx.get(limitTo(20), {}));
    await expect(write(2, "x".repeat(1_000_000))).rejects.toThrow(StorageUnavailable);
    await expect(write(3)).rejects.toThrow(StorageUnavailable);
    await expect(stored()).rejects.toThrow(StorageUnavailable);
  });

  test("a database in memory keeps acknowledged rows through commits and refusals", async () => {
    for (let id = 0; id < 300; id++) {
      const refused = storage.transaction(async (tx) => {
        await tx.run(change, { text: "changed" });
        return { ok: false };
      });
      await Promise.all([write(id, "kept"), refused]);
    }
    expect(await stored()).toHaveLength(300);
    expect(await storage.read.get(find, { id: 7 })).toEqual({ text: "kept" });
  });
});

describe.each(kinds)("reading, %s", (kind) => {
  const wrong = compile()(sql<{ id: number }>`SELECT id FROM nowhere`);
  beforeEach(async () => {
    storage = await openKind(kind);
  });

  test("a closed storage is reported as unavailable, and a wrong statement as a program error", async () => {
    await expect(storage.read.get(wrong, {})).rejects.toThrow("nowhere");
    await expect(storage.read.get(wrong, {})).rejects.not.toBeInstanceOf(StorageUnavailable);
    await storage.close();
    await expect(storage.read.get(find, { id: 1 })).rejects.toThrow(StorageUnavailable);
    await expect(storage.read.all(ids, {})).rejects.toThrow(StorageUnavailable);
  });
});
