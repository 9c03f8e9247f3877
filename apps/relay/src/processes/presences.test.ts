import { randomBytes, randomUUID } from "node:crypto";
import { BoundedMap } from "@agent/crypto";
import { runStatement } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabaseOf } from "../../test/engine/database-of-path.ts";
import { onlyOn } from "../../test/engine/engine.ts";
import { systemRuntime } from "../../test/processes/system-runtime.ts";
import { createLog } from "../observability/log.ts";
import { createConnections, type Connection } from "../realtime/connections.ts";
import { migrations } from "../storage/migrations/index.ts";
import { openStorage } from "../storage/open-storage.ts";
import type { Storage, Tx } from "../storage/storage.ts";
import { joinProcesses } from "./join.ts";
import { createPresences, type Presences } from "./presences.ts";

const log = createLog({ level: "error", write: { stdout() {}, stderr() {} }, now: Date.now });

/** Returns the same storage, but counts the statements of its transactions and its reads. */
function countStatements(storage: Storage) {
  const counts = { written: 0, read: 0 };
  const counted: Pick<Storage, "read" | "reserved" | "transaction"> = {
    reserved: storage.reserved,
    read: {
      get: (...query) => ((counts.read += 1), storage.read.get(...query)),
      all: (...query) => ((counts.read += 1), storage.read.all(...query)),
    },
    transaction: (work, isolation) =>
      storage.transaction((tx) => {
        const counting: Tx = {
          get: (...query) => tx.get(...query),
          all: (...query) => tx.all(...query),
          run: (...query) => ((counts.written += 1), tx.run(...query)),
          noteChange: (...change) => tx.noteChange(...change),
        };
        return work(counting);
      }, isolation),
  };
  return { counts, storage: counted };
}

describe.runIf(onlyOn("postgres"))("the devices that are connected to a process", () => {
  let url: string;
  const opened: Storage[] = [];
  beforeEach(async () => {
    url = await openDatabaseOf(randomUUID());
  });
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
  });

  /** Joins a process whose timer the test controls. */
  async function join(name: string) {
    const result = await openStorage({ url, migrations, poolSize: 2, shared: systemRuntime });
    if (!result.ok) throw new Error(result.detail);
    opened.push(result.storage);
    const { counts, storage } = countStatements(result.storage);
    const runtime = { now: Date.now, randomBytes };
    const processes = await joinProcesses({ storage: result.storage, runtime, name, log });
    const timers: (() => void)[] = [];
    const schedule = (_ms: number, task: () => void) => (timers.push(task), () => {});
    const connections = createConnections(() => presences);
    const presences: Presences = createPresences({
      storage,
      runtime: { schedule },
      processes,
      connections,
      log,
    });
    const ring = () => timers.splice(0).forEach((task) => task());
    return { counts, presences, connections, ring };
  }

  const connect = (agentId: string, capabilities?: readonly string[]): Connection => ({
    id: randomUUID(),
    agentId,
    deviceId: null,
    capabilities,
    openedAt: 0,
    claimed: new Set(),
    sentTasks: new BoundedMap(10),
    send() {},
    sendTask() {},
    close() {},
  });

  const listAgents = async () =>
    (await runStatement(url, "SELECT agent_id FROM presences ORDER BY 1")).map((row) =>
      String(row["agent_id"]),
    );

  test("connected devices are stored with one statement for all that came, and one for all that left", async () => {
    const { counts, connections, ring } = await join("a");
    const devices = Array.from({ length: 500 }, () => connect(randomUUID()));
    for (const device of devices) connections.add(device);
    ring();
    await expect.poll(listAgents).toHaveLength(500);
    expect(counts.written).toBe(1);

    const [gone, stayed] = [devices.slice(0, 200), devices.slice(200)];
    for (const device of gone) connections.remove(device);
    const late = connect(randomUUID());
    connections.add(late);
    await expect.poll(() => (ring(), listAgents())).toHaveLength(301);
    expect(await listAgents()).toEqual([...stayed, late].map(({ agentId }) => agentId).toSorted());
    expect(counts.written).toBe(3);
  });

  test("another process learns all connected devices, as they announced themselves, from one statement", async () => {
    const [a, b] = [await join("a"), await join("b")];
    const agentIds = Array.from({ length: 50 }, () => randomUUID());
    for (const agentId of agentIds) {
      a.connections.add(connect(agentId, ["translate", "\u0000 \\u0000 \u0001"]));
    }
    a.ring();
    await expect.poll(listAgents).toHaveLength(50);
    await b.presences.checkProcesses();
    const before = b.counts.read;
    await b.presences.reload([...agentIds, "unknown"]);
    expect(b.counts.read - before).toBe(1);
    expect([...b.presences.listAgents()].toSorted()).toEqual(agentIds.toSorted());
    const [known = ""] = agentIds;
    expect(b.presences.canServe(known, ["translate", "\u0000 \\u0000 \u0001"])).toBe(true);
    expect(b.presences.canServe(known, ["summarise"])).toBe(false);
    expect(b.presences.isOnline("unknown")).toBe(false);
  });
});
