import { createDatabase, runStatement, startPostgres } from "@agent/test-postgres";
import { Client } from "pg";
import { expect, test } from "vitest";
import { onlyOn } from "../../test/engine/engine.ts";
import { systemRuntime } from "../../test/processes/system-runtime.ts";
import { migrations } from "../storage/migrations/index.ts";
import { openStorage } from "../storage/open-storage.ts";
import {
  beginTail,
  createChangeTail,
  type ChangeHandlers,
  type ChangeWords,
} from "./tail-changes.ts";

const NUMBER = "SELECT pg_current_xact_id()::text::bigint AS xid";

/** Uses up transaction numbers that are not in the server's log when it crashes. */
async function abortTransactions(client: Client, count: number): Promise<number> {
  let last = 0;
  for (let aborted = 0; aborted < count; aborted += 1) {
    await client.query("BEGIN");
    last = Number((await client.query<{ xid: string }>(NUMBER)).rows[0]?.xid);
    await client.query("ROLLBACK");
  }
  return last;
}

test.runIf(onlyOn("postgres"))(
  "the tail misses no change of a transaction whose number was used again after the server crashed",
  { timeout: 60_000 },
  async () => {
    const server = await startPostgres({ durable: true });
    // Without this the server may store the aborts just before it is killed.
    await runStatement(server.url, "ALTER SYSTEM SET wal_writer_delay = '10s'");
    await runStatement(server.url, "SELECT pg_reload_conf()");
    const url = await createDatabase(server.url, "relay");
    const opened = await openStorage({ url, migrations, poolSize: 2, shared: systemRuntime });
    if (!opened.ok) throw new Error(opened.detail);
    const { storage } = opened;
    const handled: string[] = [];
    const handlers = {
      webhooks: (changes: readonly ChangeWords[]) =>
        void handled.push(...changes.map((words) => words.join(" "))),
    } as unknown as ChangeHandlers;
    const client = new Client({ connectionString: url });
    await client.connect();
    const ended = new Promise((resolve) => client.once("error", resolve));
    const add = (key: string) =>
      runStatement(
        url,
        `INSERT INTO changes (origin, kind, key) VALUES ('x', 'webhooks', '${key}')`,
      );
    await add("before the start");
    const start = await beginTail(storage.read);
    const tail = createChangeTail({ storage, elapsed: () => 0, start, handlers });
    await add("before");
    await tail.look();

    const last = await abortTransactions(client, 20);
    await tail.look();
    const [{ pid } = {}] = await runStatement(
      url,
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'agent-relay' LIMIT 1",
    );
    process.kill(Number(pid), "SIGKILL");
    await ended;
    await expect.poll(() => add("after").catch(() => "gone"), { timeout: 30_000 }).toEqual([]);
    const [{ xid } = {}] = await runStatement(url, "SELECT xid FROM changes WHERE key = 'after'");
    expect(Number(xid)).toBeLessThan(last);
    await expect.poll(() => tail.look().catch(() => "gone"), { timeout: 30_000 }).toBe(undefined);
    await tail.look();
    // The changes of the last look may be handled again.
    expect(new Set(handled)).toEqual(new Set(["before the start", "before", "after"]));
    expect(handled.filter((key) => key === "after")).toHaveLength(1);
    await storage.close();
    await server.stop();
  },
);
