import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock, findFreePort } from "@agent/testkit";
import { describe, expect, test } from "vitest";
import {
  getReconciliation,
  addPeer,
  getPeerPositions,
  startNetwork,
  startSite,
  submitToBest,
  waitForTask,
  waitUntil,
  completeTask,
  type TestSite,
} from "../../test/network/network.ts";

/** Counts the queries for which a relay has searched its agents. */
const queriesSearched = (site: TestSite) =>
  site.listLogged("federation.query.answered").filter(({ searched }) => searched === true).length;

/** Runs deliveries until no relay holds any money. */
async function deliverAll(sites: readonly TestSite[]): Promise<void> {
  await waitUntil(async () => {
    const books = await Promise.all(sites.map(getReconciliation));
    if (books.every(({ totals }) => totals["holds"] === 0)) return true;
    await sites[0]!.clock.advance(10_000);
    await Promise.all(sites.map((site) => site.relay.tick()));
    return false;
  }, "everything is settled");
}

describe("FE18 the fee chain over three relays", () => {
  test("the fee chain pays the worker budget x (1 - fee)^3 and each relay its share, and no money is lost", async () => {
    const network = await startNetwork(
      ["alpha", "beta", "gamma"],
      [
        [0, 1],
        [1, 2],
      ],
    );
    const [a, b, c] = network.sites as [TestSite, TestSite, TestSite];
    const [boss, worker] = [await a.createAgent(), await c.createWorker(1)];
    await a.deposit(boss, 10);
    const { body } = await submitToBest(a, boss);
    const choice = body["routing_choice"] as { routing_paths: string[][] };
    expect(choice.routing_paths).toEqual([
      ["self", ...[a, b, c].map(({ relayId }) => `relay:${relayId}`), worker.agentId],
    ]);
    await completeTask(c, worker, await waitForTask(c, worker));
    await deliverAll([a, b, c]);

    expect([await a.getBalance(boss), await c.getBalance(worker)]).toEqual([9, 0.857375]);
    const books = await Promise.all([a, b, c].map(getReconciliation));
    expect(books.map(({ totals }) => totals["fees"])).toEqual([0.05, 0.0475, 0.045125]);
    expect(books.map(({ consistent }) => consistent)).toEqual([true, true, true]);
    expect(await getPeerPositions(a)).toEqual({ [b.relayId]: 0.95 });
    expect(await getPeerPositions(b)).toEqual({ [a.relayId]: -0.95, [c.relayId]: 0.9025 });
    expect(await getPeerPositions(c)).toEqual({ [b.relayId]: -0.9025 });
    await network.close();
  });
});

test("FE11 a query in a ring of three relays reaches each of them at most once", async () => {
  const network = await startNetwork(
    ["alpha", "beta", "gamma"],
    [
      [0, 1],
      [1, 2],
      [2, 0],
    ],
  );
  const [a, b, c] = network.sites as [TestSite, TestSite, TestSite];
  const boss = await a.createAgent();
  await Promise.all([b.createWorker(1), c.createWorker(2)]);
  // A relay asks its peers about a new id before binding it; these queries are not forwarded.
  const earlier = network.sites.map(queriesSearched);
  const { body } = await a.as(boss, "GET", "/api/v1/agents/discover?capability=summarise");
  const found = body["agents"] as { source_relay: string; hop_distance: number }[];
  expect(found.map(({ hop_distance }) => hop_distance)).toEqual([1, 1]);
  expect(new Set(found.map(({ source_relay }) => source_relay))).toEqual(
    new Set([b.relayId, c.relayId]),
  );
  const answered = network.sites.map((site) => site.listLogged("federation.query.answered"));
  const perQuery = new Map<string, number>();
  for (const [at, lines] of answered.entries()) {
    for (const line of lines.filter(({ searched }) => searched === true)) {
      const key = `${at} ${String(line["query_id"])}`;
      perQuery.set(key, (perQuery.get(key) ?? 0) + 1);
    }
  }
  expect([...perQuery.values()].every((times) => times === 1)).toBe(true);
  expect(network.sites.map((site, at) => queriesSearched(site) - earlier[at]!)).toEqual([0, 1, 1]);
  await network.close();
});

test("a middle relay that is killed and restarted between forward and result loses nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "federation-"));
  const clock = createManualClock();
  const port = await findFreePort();
  const middle = (seed: number) =>
    startSite({
      name: "beta",
      clock,
      seed,
      port,
      env: { AGENT_DB_PATH: join(folder, "beta.db") },
    });
  const [a, c] = await Promise.all([
    startSite({ name: "alpha", clock, seed: 1 }),
    startSite({ name: "gamma", clock, seed: 3 }),
  ]);
  let b = await middle(2);
  await addPeer(a, b);
  await addPeer(b, c);
  const [boss, worker] = [await a.createAgent(), await c.createWorker(1)];
  await a.deposit(boss, 10);
  await submitToBest(a, boss);
  const task = await waitForTask(c, worker);
  await b.stop();
  await completeTask(c, worker, task);
  b = await middle(4);

  await deliverAll([a, b, c]);
  expect(await c.getBalance(worker)).toBe(0.857375);
  expect(await a.getBalance(boss)).toBe(9);
  for (const site of [a, b, c])
    expect(await getReconciliation(site)).toMatchObject({ consistent: true });
  // A restart loses the remote agents; a task's path still names them.
  const again = await submitToBest(a, boss);
  expect(again.status).toBe(201);
  await waitForTask(c, worker, String(again.body["task_id"]));
  await Promise.all([a, b, c].map((site) => site.close()));
  rmSync(folder, { recursive: true });
});

test("a suspended peer is excluded from discovery and routing until its next heartbeat", async () => {
  const network = await startNetwork(["alpha", "beta"], [[0, 1]]);
  const [a, b] = network.sites as [TestSite, TestSite];
  const [boss, worker] = [await a.createAgent(), await b.createWorker(0)];
  const found = async () => {
    await network.clock.advance(6_000);
    const { body } = await a.as(boss, "GET", "/api/v1/agents/discover?capability=summarise");
    return (body["agents"] as { agent_id: string }[]).map(({ agent_id }) => agent_id);
  };
  expect(await found()).toEqual([worker.agentId]);
  await b.stop();
  for (let missed = 1; missed <= 3; missed += 1) {
    await network.clock.advance(60_000);
    await a.relay.tick();
    await waitUntil(() => a.listLogged("federation.heartbeat.missed").length === missed, "a miss");
  }
  expect(a.listLogged("federation.peer.suspended")).toHaveLength(1);
  expect(await found()).toEqual([]);
  const submitted = await submitToBest(a, boss);
  expect(submitted.body["routing_choice"]).toBeNull();
  await a.close();
});

test("the cheaper of a local and a remote agent is chosen", async () => {
  const network = await startNetwork(["alpha", "beta"], [[0, 1]]);
  const [a, b] = network.sites as [TestSite, TestSite];
  const boss = await a.createAgent();
  await a.deposit(boss, 100);
  const choose = async (capability: string, here: number, there: number) => {
    const [local, remote] = [
      await a.createWorker(here, capability),
      await b.createWorker(there, capability),
    ];
    const { body } = await submitToBest(a, boss, { capability, max_budget: 20 });
    const { selected_agent } = body["routing_choice"] as { selected_agent: string };
    return selected_agent === local.agentId
      ? "local"
      : selected_agent === remote.agentId && "remote";
  };
  expect(await choose("dear-there", 1, 10)).toBe("local");
  expect(await choose("dear-here", 18, 0.1)).toBe("remote");
  await network.close();
});
