import { randomBytes, randomUUID } from "node:crypto";
import { runStatement } from "@agent/test-postgres";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabaseOf } from "../../test/engine/database-of-path.ts";
import { onlyOn } from "../../test/engine/engine.ts";
import { systemRuntime } from "../../test/processes/system-runtime.ts";
import { createLog } from "../observability/log.ts";
import { migrations } from "../storage/migrations/index.ts";
import { openStorage } from "../storage/open-storage.ts";
import { compile, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Storage, Tx } from "../storage/storage.ts";
import { joinProcesses } from "./join.ts";
import { LeadershipLost } from "./membership.ts";
import { countLiveProcesses, deleteDeadProcesses } from "./process-store.ts";
import {
  beginTail,
  createChangeTail,
  type ChangeHandlers,
  type ChangeWords,
} from "./tail-changes.ts";

const log = createLog({ level: "error", write: { stdout() {}, stderr() {} }, now: Date.now });

const leases = compile()(sql<{ leases: number }>`select count(*) as leases from leases`);
const countLeases = (read: Reader) => read.get(leases, {});

describe.runIf(onlyOn("postgres"))("processes on one database", () => {
  let url: string;
  let elapsed: number;
  /** The number of ms by which the clocks of the machines are ahead of that of the database. */
  let ahead: number;
  const opened: Storage[] = [];
  beforeEach(async () => {
    elapsed = 0;
    ahead = 0;
    url = await openDatabaseOf(randomUUID());
  });
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
  });

  async function open(): Promise<Storage> {
    const result = await openStorage({ url, migrations, poolSize: 2, shared: systemRuntime });
    if (!result.ok) throw new Error(result.detail);
    opened.push(result.storage);
    return result.storage;
  }

  async function join(name: string) {
    const storage = await open();
    const runtime = { now: () => Date.now() + ahead, monotonic: () => elapsed, randomBytes };
    return { storage, member: await joinProcesses({ storage, runtime, name, log }) };
  }

  const countChanges = async () => (await runStatement(url, "SELECT id FROM changes")).length;

  test("a process that wrongly believes that it leads writes nothing once another one leads", async () => {
    const [old, next] = [await join("old"), await join("next")];
    expect([old.member.isLeader(), next.member.isLeader()]).toEqual([true, false]);
    const fenced = old.member.asLeader(old.storage);
    await fenced.transaction(async (tx) => tx.noteChange("webhooks", "a"));
    expect(await countChanges()).toBe(1);

    await runStatement(url, "UPDATE leases SET until = 0");
    await next.member.renew();
    expect([old.member.isLeader(), next.member.isLeader()]).toEqual([true, true]);
    const late = fenced.transaction(async (tx) => tx.noteChange("webhooks", "b"));
    await expect(late).rejects.toThrow(LeadershipLost);
    expect(await countChanges()).toBe(1);
    await old.member.renew();
    expect(old.member.isLeader()).toBe(false);
    expect(await runStatement(url, "SELECT fence FROM leases")).toMatchObject([{ fence: 2 }]);
  });

  test("a process that leads again writes nothing that it began when it led before", async () => {
    const [first, second] = [await join("first"), await join("second")];
    const early = first.member.asLeader(first.storage);
    for (const { member } of [second, first]) {
      await runStatement(url, "UPDATE leases SET until = 0");
      await member.renew();
    }
    const write = async (tx: Tx) => tx.noteChange("webhooks", "a");
    await expect(early.transaction(write)).rejects.toThrow(LeadershipLost);
    await first.member.asLeader(first.storage).transaction(write);
    expect(await countChanges()).toBe(1);
  });

  test.each([3_000, -3_000])(
    "H31: a leader whose clock differs by %i ms writes nothing and stops leading if there is another process",
    async (difference) => {
      const [leader, other] = [await join("leader"), await join("other")];
      await leader.member.renew();
      const fenced = leader.member.asLeader(leader.storage);
      const write = (tx: Tx) => Promise.resolve(tx.noteChange("webhooks", "a"));
      ahead = difference;
      await expect(fenced.transaction(write)).rejects.toThrow(LeadershipLost);
      await leader.member.renew();
      expect(leader.member.isLeader()).toBe(false);
      ahead = 0;
      await other.member.renew();
      expect(other.member.isLeader()).toBe(true);
      await other.member.leave();
      await leader.member.renew();
      expect(leader.member.isLeader()).toBe(true);
      ahead = difference;
      await leader.member.renew();
      await leader.member.asLeader(leader.storage).transaction(write);
      expect(await countChanges()).toBe(1);
    },
  );

  test("another process leads only after the last transaction of the previous leader has ended", async () => {
    const [old, next] = [await join("old"), await join("next")];
    await runStatement(url, "UPDATE leases SET until = 0");
    const events: string[] = [];
    let renewed: Promise<void> | undefined;
    await old.member.asLeader(old.storage).transaction(async (tx) => {
      renewed ??= next.member.renew().then(() => void events.push("next leads"));
      // Each turn of the wait runs a statement, because a transaction may await nothing else.
      const until = performance.now() + 300;
      while (performance.now() < until && events.length === 0) await countLeases(tx);
      events.push("old ends");
    });
    await renewed;
    expect(events).toEqual(["old ends", "next leads"]);
    expect(next.member.isLeader()).toBe(true);
  });

  test("a process that could not renew its lease for 8 s neither serves nor leads, and returns under another id", async () => {
    const { member } = await join("slow");
    const id = member.id();
    elapsed = 7_999;
    expect([member.isAlive(), member.isLeader()]).toEqual([true, true]);
    elapsed = 8_000;
    expect([member.isAlive(), member.isLeader()]).toEqual([false, false]);
    await runStatement(url, "DELETE FROM processes");
    await member.renew();
    expect(member.isAlive()).toBe(true);
    expect(member.id()).not.toBe(id);
  });

  test("a process that stored its lease before the database's clock was set back prevents no other from leading", async () => {
    const [dead, other] = [await join("dead"), await join("other")];
    await other.member.renew();
    expect(await countLiveProcesses(other.storage.read)).toBe(2);
    const values = [dead.member.id()];
    await runStatement(url, "UPDATE leases SET until = until + 3600000 WHERE holder = $1", values);
    await runStatement(
      url,
      "UPDATE processes SET until = until + 3600000 WHERE process_id = $1",
      values,
    );
    expect(await countLiveProcesses(other.storage.read)).toBe(1);
    await other.member.renew();
    expect(other.member.isLeader()).toBe(true);
    await other.storage.transaction(deleteDeadProcesses);
    expect(await runStatement(url, "SELECT name FROM processes")).toEqual([{ name: "other" }]);
  });

  test("a process that leaves gives up its rows, and no fence is used twice", async () => {
    const first = await join("first");
    await first.member.leave();
    expect(await runStatement(url, "SELECT 1 FROM processes")).toEqual([]);
    const second = await join("second");
    expect(second.member.isLeader()).toBe(true);
    expect(await runStatement(url, "SELECT fence FROM leases")).toMatchObject([{ fence: 2 }]);
  });

  test("the tail misses no change that was committed after a newer one, and handles each change once", async () => {
    const [reader, writer] = [await open(), await open()];
    const handled: string[] = [];
    const handlers = {
      webhooks: (changes: readonly ChangeWords[]) => void handled.push(...changes.flat()),
    } as unknown as ChangeHandlers;
    const start = await beginTail(reader.read);
    const tail = createChangeTail({ storage: reader, elapsed: () => elapsed, start, handlers });
    const slow = new Client({ connectionString: url });
    await slow.connect();
    await slow.query("BEGIN");
    await slow.query("INSERT INTO changes (origin, kind, key) VALUES ('x', 'webhooks', 'slow')");
    await writer.transaction(async (tx) => tx.noteChange("webhooks", "fast"));
    await reader.transaction(async (tx) => tx.noteChange("webhooks", "own"));
    await tail.look();
    await tail.look();
    expect(handled).toEqual(["fast"]);
    await slow.query("COMMIT");
    await slow.end();
    await tail.look();
    await tail.look();
    expect(handled).toEqual(["fast", "slow"]);
  });

  test("a tail that begins during a transaction finds the changes that it commits later", async () => {
    const [reader, writer] = [await open(), await open()];
    const handled: string[] = [];
    const handlers = {
      webhooks: (changes: readonly ChangeWords[]) => void handled.push(...changes.flat()),
    } as unknown as ChangeHandlers;
    const slow = new Client({ connectionString: url });
    await slow.connect();
    await slow.query("BEGIN");
    await slow.query("INSERT INTO changes (origin, kind, key) VALUES ('x', 'webhooks', 'slow')");
    await writer.transaction(async (tx) => tx.noteChange("webhooks", "fast"));
    const start = await beginTail(reader.read);
    await slow.query("COMMIT");
    await slow.end();
    const tail = createChangeTail({ storage: reader, elapsed: () => elapsed, start, handlers });
    await tail.look();
    expect(handled).toContain("slow");
  });

  test("the tail reads changes again if their handling failed", async () => {
    const [reader, writer] = [await open(), await open()];
    let failures = 1;
    const handled: string[] = [];
    const handlers = {
      webhooks(changes: readonly ChangeWords[]) {
        if (failures-- > 0) throw new Error("the database is gone");
        handled.push(...changes.flat());
      },
    } as unknown as ChangeHandlers;
    const start = await beginTail(reader.read);
    const tail = createChangeTail({ storage: reader, elapsed: () => elapsed, start, handlers });
    await writer.transaction(async (tx) => tx.noteChange("webhooks", "a"));
    elapsed = 6_000;
    await expect(tail.look()).rejects.toThrow("gone");
    expect(tail.age()).toBe(6_000);
    await tail.look();
    expect(handled).toEqual(["a"]);
    expect(tail.age()).toBe(0);
  });
});
