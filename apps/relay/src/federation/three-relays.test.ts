import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manualClock } from "@agent/testkit";
import { describe, expect, test } from "vitest";
import {
  booksOf,
  freePort,
  peer,
  positionsOf,
  startNetwork,
  startSite,
  submitFor,
  taskFor,
  until,
  work,
  type Site,
} from "../../test/network.ts";

/** How many queries a relay has searched its agents for. */
const queriesSearched = (site: Site) =>
  site.logged("federation.query.answered").filter(({ searched }) => searched === true).length;

/** Lets deliveries run until nothing is held anywhere any more. */
async function deliverAll(sites: readonly Site[]): Promise<void> {
  await until(async () => {
    const books = await Promise.all(sites.map(booksOf));
    if (books.every(({ totals }) => totals["holds"] === 0)) return true;
    await sites[0]!.clock.advance(10_000);
    await Promise.all(sites.map((site) => site.relay.tick()));
    return false;
  }, "everything is settled");
}

describe("FE18 the fee chain over three relays", () => {
  test("leaves the worker budget x (1 - fee)^3, and every relay its share; nothing is made or lost", async () => {
    const network = await startNetwork(
      ["alpha", "beta", "gamma"],
      [
        [0, 1],
        [1, 2],
      ],
    );
    const [a, b, c] = network.sites as [Site, Site, Site];
    const [boss, worker] = [await a.agent(), await c.worker(1)];
    await a.deposit(boss, 10);
    const { body } = await submitFor(a, boss);
    const choice = body["routing_choice"] as { routing_paths: string[][] };
    expect(choice.routing_paths).toEqual([
      ["self", ...[a, b, c].map(({ relayId }) => `relay:${relayId}`), worker.agentId],
    ]);
    await work(c, worker, await taskFor(c, worker));
    await deliverAll([a, b, c]);

    expect([await a.balance(boss), await c.balance(worker)]).toEqual([9, 0.857375]);
    const books = await Promise.all([a, b, c].map(booksOf));
    expect(books.map(({ totals }) => totals["fees"])).toEqual([0.05, 0.0475, 0.045125]);
    expect(books.map(({ consistent }) => consistent)).toEqual([true, true, true]);
    expect(await positionsOf(a)).toEqual({ [b.relayId]: 0.95 });
    expect(await positionsOf(b)).toEqual({ [a.relayId]: -0.95, [c.relayId]: 0.9025 });
    expect(await positionsOf(c)).toEqual({ [b.relayId]: -0.9025 });
    await network.close();
  });
});

test("FE11 in a ring of three a query reaches every relay at most once", async () => {
  const network = await startNetwork(
    ["alpha", "beta", "gamma"],
    [
      [0, 1],
      [1, 2],
      [2, 0],
    ],
  );
  const [a, b, c] = network.sites as [Site, Site, Site];
  const boss = await a.agent();
  await Promise.all([b.worker(1), c.worker(2)]);
  // A relay asks its peers whose a new id is before it binds it; these queries go no further.
  const earlier = network.sites.map(queriesSearched);
  const { body } = await a.as(boss, "GET", "/api/v1/agents/discover?capability=summarise");
  const found = body["agents"] as { source_relay: string; hop_distance: number }[];
  expect(found.map(({ hop_distance }) => hop_distance)).toEqual([1, 1]);
  expect(new Set(found.map(({ source_relay }) => source_relay))).toEqual(
    new Set([b.relayId, c.relayId]),
  );
  const answered = network.sites.map((site) => site.logged("federation.query.answered"));
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

test("a relay in the middle that is killed and started again between forward and result loses nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "federation-"));
  const clock = manualClock();
  const port = await freePort();
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
  await peer(a, b);
  await peer(b, c);
  const [boss, worker] = [await a.agent(), await c.worker(1)];
  await a.deposit(boss, 10);
  await submitFor(a, boss);
  const task = await taskFor(c, worker);
  await b.stop();
  await work(c, worker, task);
  b = await middle(4);

  await deliverAll([a, b, c]);
  expect(await c.balance(worker)).toBe(0.857375);
  expect(await a.balance(boss)).toBe(9);
  for (const site of [a, b, c]) expect(await booksOf(site)).toMatchObject({ consistent: true });
  // What it knew of other relays' agents went with the process; the way of a task still names them.
  const again = await submitFor(a, boss);
  expect(again.status).toBe(201);
  await taskFor(c, worker, String(again.body["task_id"]));
  await Promise.all([a, b, c].map((site) => site.close()));
  rmSync(folder, { recursive: true });
});

test("a suspended peer is left out of discovery and routing, and heard again after a heartbeat", async () => {
  const network = await startNetwork(["alpha", "beta"], [[0, 1]]);
  const [a, b] = network.sites as [Site, Site];
  const [boss, worker] = [await a.agent(), await b.worker(0)];
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
    await until(() => a.logged("federation.heartbeat.missed").length === missed, "a miss");
  }
  expect(a.logged("federation.peer.suspended")).toHaveLength(1);
  expect(await found()).toEqual([]);
  const submitted = await submitFor(a, boss);
  expect(submitted.body["routing_choice"]).toBeNull();
  await a.close();
});

test("with two ways to the work the cheaper local agent wins over a dearer remote one, and the other way round", async () => {
  const network = await startNetwork(["alpha", "beta"], [[0, 1]]);
  const [a, b] = network.sites as [Site, Site];
  const boss = await a.agent();
  await a.deposit(boss, 100);
  const choose = async (capability: string, here: number, there: number) => {
    const [local, remote] = [await a.worker(here, capability), await b.worker(there, capability)];
    const { body } = await submitFor(a, boss, { capability, max_budget: 20 });
    const { selected_agent } = body["routing_choice"] as { selected_agent: string };
    return selected_agent === local.agentId
      ? "local"
      : selected_agent === remote.agentId && "remote";
  };
  expect(await choose("dear-there", 1, 10)).toBe("local");
  expect(await choose("dear-here", 18, 0.1)).toBe("remote");
  await network.close();
});
