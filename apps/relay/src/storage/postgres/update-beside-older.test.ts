import { randomUUID } from "node:crypto";
import { createDatabase, dropDatabase, runStatement } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getServer, onlyOn } from "../../../test/engine/engine.ts";
import { systemRuntime } from "../../../test/processes/system-runtime.ts";
import type { Migration } from "../database/migrate.ts";
import { openStorage } from "../open-storage.ts";
import { compile, sql } from "../queries/compiled-query.ts";
import { StorageUnavailable, type Storage } from "../storage.ts";

const counters: Migration = {
  id: "001-counters",
  sql: `CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
    INSERT INTO counters (name, value) VALUES ('shared', 0);`,
};
const increment = compile()(sql<never>`UPDATE counters SET value = value + 1`);

/** A step of a table that every transaction writes; it takes a while, as on a large table. */
const toSlowStep = (id: string, seconds: number, oldest?: string): Migration => ({
  id,
  sql: {
    sqlite: "",
    postgres: `SELECT nextval('attempts');
      ALTER TABLE counters ADD COLUMN "${id}" TEXT;
      SELECT pg_sleep(${seconds});`,
  },
  ...(oldest !== undefined && { oldest }),
});
const toExpand = (seconds: number) => toSlowStep("002-expand", seconds, counters.id);
const contract = toSlowStep("002-contract", 1);

describe.runIf(onlyOn("postgres"))(
  "an update of the schema beside processes of an older version",
  () => {
    let name: string;
    let url: string;
    const opened: Storage[] = [];
    beforeEach(async () => {
      name = `update_${randomUUID().replaceAll("-", "")}`;
      url = await createDatabase(getServer().serverUrl, name);
    });
    afterEach(async () => {
      for (const storage of opened.splice(0)) await storage.close();
      await dropDatabase(getServer().serverUrl, name);
    });

    async function open(migrations: readonly Migration[]): Promise<Storage> {
      const options = { url, migrations, poolSize: 2, shared: systemRuntime };
      const result = await openStorage(options);
      if (!result.ok) throw new Error(`${result.code}: ${result.detail}`);
      opened.push(result.storage);
      return result.storage;
    }

    const add = (storage: Storage) => storage.transaction((tx) => tx.run(increment, {}));
    const readNumber = async (text: string) =>
      Number(Object.values((await runStatement(url, text))[0] ?? {})[0]);
    const countAttempts = () => readNumber("SELECT last_value FROM attempts");
    const readCounter = () => readNumber("SELECT value FROM counters");

    /** Begins an update and resolves when its step is being applied. */
    async function update(step: Migration) {
      const updating = open([counters, step]);
      updating.catch(() => {});
      const sleeping = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
      await expect
        .poll(() => runStatement(url, sleeping), { timeout: 5_000, interval: 10 })
        .toHaveLength(1);
      return { updating };
    }

    const endConnections = () =>
      runStatement(
        url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );

    test.each([0.5, 2.5])(
      "a step of %s s is applied once beside processes that write to its table all the time",
      async (seconds) => {
        const old = [await open([counters]), await open([counters]), await open([counters])];
        await runStatement(url, "CREATE SEQUENCE attempts");
        let isOver = false;
        let acknowledged = 0;
        const write = async (storage: Storage) => {
          while (!isOver) {
            await add(storage);
            acknowledged += 1;
          }
        };
        const writing = old.map(write);
        await (
          await update(toExpand(seconds))
        ).updating;
        const after = acknowledged;
        await expect.poll(() => acknowledged).toBeGreaterThan(after + 10);
        isOver = true;
        await Promise.all(writing);
        expect(await countAttempts()).toBe(1);
        expect(await readCounter()).toBe(acknowledged);
      },
    );

    test("H30: a process that reconnects during a step that excludes its version no longer writes anything", async () => {
      const old = await open([counters]);
      await runStatement(url, "CREATE SEQUENCE attempts");
      await endConnections();
      const { updating } = await update(contract);
      await expect(add(old)).rejects.toThrow(StorageUnavailable);
      const updated = await updating;
      await expect(add(old)).rejects.toThrow(StorageUnavailable);
      expect(await readCounter()).toBe(0);
      await add(updated);
      expect(await readCounter()).toBe(1);
    });

    test("a process that reconnects during a step that its version may ignore continues", async () => {
      const old = await open([counters]);
      await runStatement(url, "CREATE SEQUENCE attempts");
      await endConnections();
      const { updating } = await update(toExpand(1));
      const early = add(old);
      await updating;
      expect(await early).toBe(1);
    });
  },
);
