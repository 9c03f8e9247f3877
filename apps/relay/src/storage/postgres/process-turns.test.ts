import { randomUUID } from "node:crypto";
import { createDatabase, dropDatabase, runStatement } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getServer, onlyOn } from "../../../test/engine/engine.ts";
import { systemRuntime } from "../../../test/processes/system-runtime.ts";
import type { Migration } from "../database/migrate.ts";
import { openStorage } from "../open-storage.ts";
import { compile, param, sql } from "../queries/compiled-query.ts";
import type { Isolation, Storage } from "../storage.ts";

const counters: Migration = {
  id: "001-counters",
  sql: `CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
    INSERT INTO counters (name, value) VALUES ('shared', 0);`,
};
const find = compile()(sql<{ value: number }>`SELECT value FROM counters`);
const change = compile<{ value: number }>()(
  sql<never>`UPDATE counters SET value = ${param("value")}`,
);

/** The transactions of each process, one after another. */
const TRANSACTIONS = 25;

describe.runIf(onlyOn("postgres"))("transactions of two processes at the same rows", () => {
  let name: string;
  let url: string;
  let processes: readonly Storage[];
  beforeEach(async () => {
    name = `turns_${randomUUID().replaceAll("-", "")}`;
    url = await createDatabase(getServer().serverUrl, name);
    processes = [await open(), await open()];
  });
  afterEach(async () => {
    for (const storage of processes) await storage.close();
    await dropDatabase(getServer().serverUrl, name);
  });

  async function open(): Promise<Storage> {
    const options = { url, migrations: [counters], poolSize: 2, shared: systemRuntime };
    const opened = await openStorage(options);
    if (!opened.ok) throw new Error(opened.detail);
    return opened.storage;
  }

  test.each<Isolation>(["serializable", "locked"])(
    "transactions that are %s take turns, so that none runs twice or loses an update",
    async (isolation) => {
      let runs = 0;
      const count = (storage: Storage) =>
        storage.transaction(async (tx) => {
          runs += 1;
          const { value = 0 } = (await tx.get(find, {})) ?? {};
          await tx.run(change, { value: value + 1 });
        }, isolation);
      const countAll = async (storage: Storage) => {
        for (let turn = 0; turn < TRANSACTIONS; turn += 1) await count(storage);
      };
      await Promise.all(processes.map(countAll));
      const total = TRANSACTIONS * processes.length;
      const [row] = await runStatement(url, "SELECT value FROM counters");
      expect({ runs, value: Number(row?.["value"]) }).toEqual({ runs: total, value: total });
    },
  );
});
