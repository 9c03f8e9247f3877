import Sqlite from "better-sqlite3";
import { afterEach, expect, test } from "vitest";
import { onlyOn } from "../../test/engine/engine.ts";
import {
  completeTask,
  startNetwork,
  submitToBest,
  waitForTask,
  waitUntil,
  type TestSite,
  listPeers,
} from "../../test/network/network.ts";
import { migrate } from "../storage/database/migrate.ts";
import { migrations } from "../storage/migrations/index.ts";
import { tasksSince } from "./peers/traffic-store.ts";

const DAY_MS = 86_400_000;
const CHAIN = [
  [0, 1],
  [1, 2],
] as const;

let network: Awaited<ReturnType<typeof startNetwork>> | undefined;
afterEach(() => network?.close());

/** Returns the tasks of the last day that a relay had with each of its peers, by relay id. */
async function getTraffic(site: TestSite): Promise<Record<string, unknown>> {
  const peers = await listPeers(site);
  return Object.fromEntries(peers.map(({ relay_id, tasks_24h }) => [relay_id, tasks_24h]));
}

test("a task counts once for each peer that it went to or came from, for 24 hours", async () => {
  network = await startNetwork(["alpha", "beta", "gamma"], CHAIN);
  const [a, b, c] = network.sites as [TestSite, TestSite, TestSite];
  const [boss, worker] = [await a.createAgent(), await c.createWorker(1)];
  await a.deposit(boss, 10);
  expect(await getTraffic(b)).toEqual({ [a.relayId]: 0, [c.relayId]: 0 });

  for (const expected of [1, 2]) {
    const { body } = await submitToBest(a, boss);
    const taskId = String(body["task_id"]);
    const task = await waitForTask(c, worker, taskId);
    if (expected === 1) await completeTask(c, worker, task);
    await waitUntil(async () => (await getTraffic(b))[c.relayId] === expected, "it is forwarded");
    expect(await getTraffic(a)).toEqual({ [b.relayId]: expected });
    expect(await getTraffic(b)).toEqual({ [a.relayId]: expected, [c.relayId]: expected });
    expect(await getTraffic(c)).toEqual({ [b.relayId]: expected });
  }
  // The answer about a single peer contains the count too.
  const path = `/api/v1/admin/federation/peers/${c.relayId}`;
  expect(await b.asOperator("PUT", path, { credit_limit: 5 })).toMatchObject({
    status: 200,
    body: { tasks_24h: 2 },
  });
  await network.clock.advance(DAY_MS + 60_000);
  expect(await getTraffic(b)).toEqual({ [a.relayId]: 0, [c.relayId]: 0 });
});

test.runIf(onlyOn("sqlite"))(
  "the traffic of all peers is read from two indexes and no table",
  () => {
    const memory = new Sqlite(":memory:");
    migrate(memory, migrations);
    const plan = memory
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${tasksSince.text}`)
      .all(...tasksSince.values({ since: 1 }));
    memory.close();
    const reads = plan.map(({ detail }) => detail).filter((step) => step.includes("federation_"));
    expect(reads).toEqual([
      "SEARCH federation_outbound USING COVERING INDEX federation_outbound_by_time (forwarded_at>?)",
      "SEARCH federation_inbound USING COVERING INDEX federation_inbound_by_time (received_at>?)",
    ]);
  },
);
