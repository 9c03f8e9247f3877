import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createDatabase, dropDatabase, runStatement, startPostgres } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startCommitProxy, type CommitProxy } from "../../../test/engine/commit-proxy.ts";
import { getServer, onlyOn } from "../../../test/engine/engine.ts";
import type { Migration } from "../database/migrate.ts";
import { migrations } from "../migrations/index.ts";
import { openStorage } from "../open-storage.ts";
import { compile, param, params, queryBuilder, sql } from "../queries/compiled-query.ts";
import { inRowForm, type TableName } from "../queries/row-form.ts";
import { StorageUnavailable, type Storage, type Tx } from "../storage.ts";

const notes: Migration = {
  id: "001-notes",
  sql: "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
};
const insert = compile<{ id: number; text: string }>()(
  sql<never>`INSERT INTO notes (id, text) VALUES (${param("id")}, ${param("text")})`,
);
const change = compile<{ id: number; text: string }>()(
  sql<never>`UPDATE notes SET text = ${param("text")} WHERE id = ${param("id")}`,
);
const find = compile<{ id: number }>()(
  sql<{ text: string }>`SELECT text FROM notes WHERE id = ${param("id")}`,
);
const addCapability = compile<{ agent_id: string; capability: string; place: string }>()(
  queryBuilder.insertInto("agent_capabilities").values(params("agent_id", "capability", "place")),
);
const list = compile()(sql<{ id: number; text: string }>`SELECT id, text FROM notes ORDER BY text`);
const doubled = compile<{ id: number }>()(
  sql<{ amount: number }>`SELECT id * 2 AS amount FROM notes WHERE id = ${param("id")}`,
);
const plans = compile()(
  sql<{ custom_plans: number }>`SELECT cast(custom_plans AS BIGINT) AS custom_plans
    FROM pg_prepared_statements WHERE statement LIKE 'INSERT INTO notes%'`,
);
const renumber = inRowForm(
  compile<{ text: string; id: number }>()(
    sql<never>`UPDATE notes SET id = ${param("id")} WHERE text = ${param("text")}`,
  ),
  {
    kind: "update",
    // A table of these tests only, with the texts as keys.
    table: { name: "notes" as TableName, key: ["text"], columns: ["id", "text"] },
    change: (_, { id }) => ({ id }),
  },
);
const addThenChange = compile<{ id: number; none: number }>()(
  sql<never>`
    WITH added AS (INSERT INTO notes (id, text) VALUES (${param("id")}, '') RETURNING id)
    UPDATE notes SET text = '' FROM added WHERE notes.id = ${param("none")}`,
);
const endConnections = compile()(
  sql<{ ended: number }>`SELECT count(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`,
);

const opened = new Set<Storage>();
let name: string;
let url: string;
let proxy: CommitProxy;

async function open(at = url, steps: readonly Migration[] = [notes]): Promise<Storage> {
  const result = await openStorage({ url: at, migrations: steps });
  if (!result.ok) throw new Error(`${result.code}: ${result.detail}`);
  opened.add(result.storage);
  return result.storage;
}

const countNotes = async () => (await runStatement(url, "SELECT id FROM notes")).length;

describe.runIf(onlyOn("postgres"))("storage on PostgreSQL", () => {
  beforeEach(async () => {
    const { serverUrl } = getServer();
    name = `storage_${randomUUID().replaceAll("-", "")}`;
    url = await createDatabase(serverUrl, name);
    proxy = await startCommitProxy(serverUrl);
  });

  afterEach(async () => {
    for (const storage of opened) await storage.close();
    opened.clear();
    await proxy.close();
    await dropDatabase(getServer().serverUrl, name);
  });

  test("the storage reports a commit without an answer as unavailable and does not run it again", async () => {
    const storage = await open(proxy.toUrl(url));
    let runs = 0;
    proxy.loseCommits(true);
    const unknown = storage.transaction((tx) => {
      runs += 1;
      return tx.run(insert, { id: 1, text: "once" });
    });
    await expect(unknown).rejects.toThrow(StorageUnavailable);
    expect(proxy.countLost()).toBe(1);
    expect(runs).toBe(1);
    expect(await countNotes()).toBe(1);
    proxy.loseCommits(false);
    await vi.waitFor(() => storage.transaction((tx) => tx.run(insert, { id: 2, text: "" })));
    expect(await countNotes()).toBe(2);
  });

  test.each<[string, number, (tx: Tx) => Promise<unknown>]>([
    ["found no row to change", 1, (tx) => tx.run(change, { id: 9, text: "" })],
    ["changed a row", 2, (tx) => tx.run(change, { id: 1, text: "refused" })],
    ["wrote before its last part", 2, (tx) => tx.run(addThenChange, { id: 3, none: 9 })],
  ])(
    "a refusal after a statement that %s makes the other transactions run %i times",
    async (_, times, work) => {
      const storage = await open();
      await storage.transaction((tx) => tx.run(insert, { id: 1, text: "first" }));
      let runs = 0;
      const other = storage.transaction((tx) => {
        runs += 1;
        return tx.run(insert, { id: 2, text: "second" });
      });
      const refused = storage.transaction(async (tx) => {
        await work(tx);
        return { ok: false };
      });
      expect([await other, await refused, runs]).toEqual([1, { ok: false }, times]);
      expect(await storage.read.all(list, {})).toEqual([
        { id: 1, text: "first" },
        { id: 2, text: "second" },
      ]);
    },
  );

  test("a refused transaction that cannot be decided in memory does not make others run again", async () => {
    const storage = await open();
    await storage.transaction((tx) => tx.run(insert, { id: 1, text: "first" }));
    let runs = 0;
    const other = storage.transaction((tx) => {
      if (tx.isDryRun !== true) runs += 1;
      return tx.run(renumber, { text: "first", id: 5 });
    }, "together");
    const refused = storage.transaction(async (tx) => {
      await tx.run(insert, { id: 2, text: "refused" });
      return { ok: false };
    }, "together");
    expect([await other, await refused, runs]).toEqual([1, { ok: false }, 1]);
    expect(await storage.read.all(list, {})).toEqual([{ id: 5, text: "first" }]);
  });

  test("the storage plans a statement of transactions once, and not again for other values", async () => {
    const storage = await open();
    for (const id of [1, 2, 3]) {
      await storage.transaction((tx) => tx.run(insert, { id, text: "" }));
    }
    expect(await storage.transaction((tx) => tx.all(plans, {}))).toEqual([{ custom_plans: 0 }]);
  });

  test("the storage acknowledges no transaction whose COMMIT the server answered with ROLLBACK", async () => {
    const storage = await open(proxy.toUrl(url));
    proxy.failBeforeCommit(true);
    const batch = [1, 2].map((id) => storage.transaction((tx) => tx.run(insert, { id, text: "" })));
    for (const { status } of await Promise.allSettled(batch)) expect(status).toBe("rejected");
    await expect(batch[0]).rejects.toThrow(StorageUnavailable);
    expect(await countNotes()).toBe(0);
    proxy.failBeforeCommit(false);
    await vi.waitFor(() => storage.transaction((tx) => tx.run(insert, { id: 3, text: "" })));
    expect(await countNotes()).toBe(1);
  });

  test("the storage publishes a changed agent after its commit, even if the outcome of the commit is unknown", async () => {
    const storage = await open(proxy.toUrl(url), migrations);
    const published: unknown[] = [];
    const offered = "SELECT agent_id FROM agent_capabilities ORDER BY agent_id";
    storage.onAgentsChanged((changed) => {
      published.push(runStatement(url, offered).then((rows) => ({ changed, rows })));
    });
    const offer = (agent_id: string) =>
      storage.transaction((tx) => tx.run(addCapability, { agent_id, capability: "x", place: "" }));
    await offer("a");
    await Promise.all(published);
    proxy.loseCommits(true);
    await expect(offer("b")).rejects.toThrow(StorageUnavailable);
    expect(await Promise.all(published)).toEqual([
      { changed: new Set(["a"]), rows: [{ agent_id: "a" }] },
      { changed: new Set(["b"]), rows: [{ agent_id: "a" }, { agent_id: "b" }] },
    ]);
  });

  test("the storage keeps nothing of a batch whose connection ended before its commit", async () => {
    const storage = await open(proxy.toUrl(url));
    proxy.cutBeforeCommit(true);
    const batch = [1, 2, 3].map((id) =>
      storage.transaction((tx) => tx.run(insert, { id, text: "" })),
    );
    for (const { status } of await Promise.allSettled(batch)) expect(status).toBe("rejected");
    await expect(batch[0]).rejects.toThrow(StorageUnavailable);
    expect(await countNotes()).toBe(0);
    proxy.cutBeforeCommit(false);
    await vi.waitFor(() => storage.transaction((tx) => tx.run(insert, { id: 1, text: "" })));
    expect(await countNotes()).toBe(1);
  });

  test("the storage reconnects by itself after the server ended its connections", async () => {
    const storage = await open();
    await storage.transaction((tx) => tx.run(insert, { id: 1, text: "" }));
    await storage.read.get(endConnections, {});
    await sleep(50);
    await vi.waitFor(async () => {
      expect(await storage.read.get(find, { id: 1 })).toEqual({ text: "" });
      await storage.transaction((tx) => tx.run(insert, { id: 2, text: "" }));
    });
    expect(await countNotes()).toBe(2);
  });

  test("the storage rejects transactions and reads as unavailable while the server is gone", async () => {
    const server = await startPostgres();
    try {
      const storage = await open(server.url);
      await storage.transaction((tx) => tx.run(insert, { id: 1, text: "" }));
      const during = storage.transaction(async (tx) => {
        process.kill(server.pid, "SIGKILL");
        for (let id = 2; ; id += 1) await tx.run(insert, { id, text: "" });
      });
      await expect(during).rejects.toThrow(StorageUnavailable);
      const later = storage.transaction((tx) => tx.run(insert, { id: 1, text: "" }));
      await expect(later).rejects.toThrow(StorageUnavailable);
      await expect(storage.read.get(find, { id: 1 })).rejects.toThrow(StorageUnavailable);
    } finally {
      await server.stop();
    }
  });

  test.each(["serializable", "locked"] as const)(
    "the storage does not lose the update of another program beside a %s transaction",
    async (isolation) => {
      const storage = await open();
      await storage.transaction((tx) => tx.run(insert, { id: 1, text: "0" }));
      let runs = 0;
      await storage.transaction(async (tx) => {
        runs += 1;
        const { text } = (await tx.get(find, { id: 1 })) ?? { text: "" };
        if (runs === 1) {
          // Another program would do this; the test's own wait is not a statement of the transaction.
          const beside = runStatement(url, "UPDATE notes SET text = '10' WHERE id = 1");
          let isDone = false;
          void beside.then(() => (isDone = true));
          while (!isDone) await tx.get(doubled, { id: 1 });
        }
        return tx.run(change, { id: 1, text: String(Number(text) + 1) });
      }, isolation);
      const { text } = (await storage.read.get(find, { id: 1 })) ?? { text: "" };
      // A locked transaction decides by rows that it has locked; this one locked none.
      expect({ runs, text }).toEqual(
        isolation === "serializable" ? { runs: 2, text: "11" } : { runs: 1, text: "1" },
      );
    },
  );

  test("the storage refuses a second relay while the first one runs, and admits it afterwards", async () => {
    const first = await open();
    const second = { url, migrations: [notes] };
    expect(await openStorage(second)).toMatchObject({ ok: false, code: "database.locked" });
    await first.close();
    await open();
  });

  test.each(["fsync", "full_page_writes", "synchronous_commit"])(
    "the storage refuses a server that can lose commits because of %s",
    async () => {
      await runStatement(url, `ALTER DATABASE "${name}" SET agent.disposable = 'off'`);
      const refused = await openStorage({ url, migrations: [notes] });
      expect(refused).toMatchObject({ ok: false, code: "database.unusable" });
      expect(await runStatement(url, "SELECT to_regclass('notes') AS notes")).toEqual([
        { notes: null },
      ]);
    },
  );

  test("the storage refuses a database of another program and changes nothing in it", async () => {
    await runStatement(url, "CREATE TABLE theirs (id int)");
    const refused = await openStorage({ url, migrations: [notes] });
    expect(refused).toMatchObject({ ok: false, code: "database.foreign" });
    expect(await runStatement(url, "SELECT to_regclass('schema_migrations') AS ours")).toEqual([
      { ours: null },
    ]);
  });

  test("the storage refuses an address without a server", async () => {
    const refused = await openStorage({ url: "postgres://127.0.0.1:1/relay", migrations: [notes] });
    expect(refused).toMatchObject({ ok: false, code: "database.unusable" });
  });

  const colour = (oldest?: string): Migration => ({
    id: "002-colour",
    sql: "ALTER TABLE notes ADD COLUMN colour TEXT",
    ...(oldest !== undefined && { oldest }),
  });

  test("the storage works on a newer schema whose last step names this one as the oldest", async () => {
    await (await open(url, [notes, colour(notes.id)])).close();
    const storage = await open();
    await storage.transaction((tx) => tx.run(insert, { id: 1, text: "old program" }));
    expect(await countNotes()).toBe(1);
  });

  test("the storage refuses a newer schema whose last step names no older one", async () => {
    await (await open(url, [notes, colour()])).close();
    const refused = await openStorage({ url, migrations: [notes] });
    expect(refused).toMatchObject({ ok: false, code: "database.newer" });
  });

  test("the storage keeps every character of a text and orders texts by their bytes", async () => {
    const storage = await open();
    const texts = ["a\0b", "a\u00010b", "\u0001", "é", "Z", "a", "_", "\u{10ffff}", "\uffff"];
    for (const [id, text] of texts.entries()) {
      await storage.transaction((tx) => tx.run(insert, { id, text }));
      expect(await storage.read.get(find, { id })).toEqual({ text });
    }
    const plain = texts.filter((text) => !text.includes("\0") && !text.includes("\u0001"));
    const stored = (await storage.read.all(list, {})).map(({ text }) => text);
    expect(stored.filter((text) => plain.includes(text))).toEqual(
      plain.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
    );
  });

  test("the storage throws for a number that JavaScript cannot represent exactly", async () => {
    const storage = await open();
    const id = Number.MAX_SAFE_INTEGER;
    await storage.transaction((tx) => tx.run(insert, { id, text: "" }));
    await expect(storage.read.get(doubled, { id })).rejects.toThrow(RangeError);
    expect(await storage.read.get(find, { id })).toEqual({ text: "" });
  });

  test("the storage reads one snapshot while other transactions write", async () => {
    const storage = await open();
    await storage.snapshot(async (read) => {
      expect(await read.all(list, {})).toEqual([]);
      await storage.transaction((tx) => tx.run(insert, { id: 1, text: "" }));
      expect(await read.all(list, {})).toEqual([]);
    });
    expect(await storage.read.all(list, {})).toHaveLength(1);
  });
});
