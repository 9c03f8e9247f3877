import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getTaskAt, type Delegation } from "../../test/market.ts";
import {
  addPeer,
  claimTask,
  closeSites,
  completeTask,
  getReconciliation,
  listPeers,
  removePeer,
  startTwoSites,
  waitForTask,
  waitUntil,
  type TwoSites,
} from "../../test/network/network.ts";

const PEERS_PATH = "/api/v1/admin/federation/peers";

let sites: TwoSites;
beforeEach(async () => {
  sites = await startTwoSites();
});
afterEach(() => closeSites([sites.a, sites.b], sites.proxies));

const setCredit = (credit_limit: number) =>
  sites.a.asOperator("PUT", `${PEERS_PATH}/${sites.b.relayId}`, { credit_limit });

async function submit(): Promise<Pick<Delegation, "task_id" | "path">> {
  const { a, boss, worker } = sites;
  const to = `/agent/${worker.agentId}/task`;
  const { status, body } = await a.as(boss, "POST", to, { prompt: "work" });
  expect(status).toBe(201);
  const task_id = body["task_id"] as string;
  return { task_id, path: `${to}/${task_id}` };
}

/** Runs the jobs of both relays for some minutes, so that each peer is sent heartbeats. */
async function pass(minutes: number): Promise<void> {
  for (let at = 0; at < minutes; at += 1) {
    await sites.clock.advance(60_000);
    for (const site of [sites.a, sites.b]) {
      await site.relay.tick();
      await site.relay.idle();
    }
  }
}

describe("a task for an agent of a peer that has not got the task", () => {
  beforeEach(() => setCredit(0));

  test("FE30: a task that waits for an agent of a peer is cancelled once the operator has removed the peer", async () => {
    const { a, b, boss } = sites;
    const task = await submit();
    expect(await getTaskAt(a, task.path)).toMatchObject({ status: "pending" });
    expect(await a.getBalance(boss)).toBe(8.8);
    await removePeer(a, b);
    await pass(2);
    await waitUntil(async () => (await getTaskAt(a, task.path)).status === "cancelled", "a cancel");
    expect(await a.getBalance(boss)).toBe(10);
    expect(await getReconciliation(a)).toMatchObject({ consistent: true });
  });

  test("FE30: a task that waits for an agent of a peer goes on waiting while the peer has no credit, or left by itself", async () => {
    const { a, b } = sites;
    const task = await submit();
    await pass(2);
    expect(await getTaskAt(a, task.path)).toMatchObject({ status: "pending" });
    await removePeer(b, a);
    await pass(2);
    expect(await getTaskAt(a, task.path)).toMatchObject({ status: "pending" });
  });
});

describe("a task of a peer that the operator removes", () => {
  test("FE30: a removed peer's task that no executor has begun is cancelled, and the peer hears of it when it is added again", async () => {
    const { a, b, boss, worker } = sites;
    const task = await submit();
    const there = await waitForTask(b, worker, task.task_id);
    // A call of the worker's endpoint holds the task as long as it lasts.
    await waitUntil(() => b.listLogged("mcp.forward_failed").length === 1, "a failed call");
    await removePeer(b, a);
    const path = `/agent/${worker.agentId}/task/${there.task_id}`;
    await waitUntil(async () => (await getTaskAt(b, path)).status === "cancelled", "a cancel");
    expect((await completeTask(b, worker, there)).status).toBe(409);
    expect(await getReconciliation(b)).toMatchObject({ consistent: true });
    await addPeer(b, a);
    await pass(2);
    await waitUntil(async () => (await getTaskAt(a, task.path)).status === "cancelled", "a notice");
    expect(await a.getBalance(boss)).toBe(10);
  });

  test("FE30: a removed peer's task that an executor has claimed can be finished, and is cancelled once the claim ends", async () => {
    const { b, worker } = sites;
    const [kept, lost] = [await submit(), await submit()];
    const paths = [kept, lost].map(({ task_id }) => `/agent/${worker.agentId}/task/${task_id}`);
    const [done, left] = [
      await waitForTask(b, worker, kept.task_id),
      await waitForTask(b, worker, lost.task_id),
    ];
    for (const path of paths) await claimTask(sites.b, sites.worker, path);
    await removePeer(b, sites.a);
    expect(await completeTask(b, worker, done)).toMatchObject({ status: 200 });
    await pass(2);
    const path = `/agent/${worker.agentId}/task/${left.task_id}`;
    await waitUntil(async () => (await getTaskAt(b, path)).status === "cancelled", "a cancel");
  });
});

describe("a task of a peer that ends the peering by its own notice", () => {
  test("FE31: a task that no executor has begun is cancelled once its peer has removed this relay", async () => {
    const { a, b, worker } = sites;
    const [first, second] = [await submit(), await submit()];
    const [waiting, begun] = [
      await waitForTask(b, worker, first.task_id),
      await waitForTask(b, worker, second.task_id),
    ];
    const pathOf = (task_id: string) => `/agent/${worker.agentId}/task/${task_id}`;
    await claimTask(sites.b, sites.worker, pathOf(begun.task_id));
    await removePeer(a, b);
    await waitUntil(
      async () => (await getTaskAt(b, pathOf(waiting.task_id))).status === "cancelled",
      "a cancel",
    );
    expect((await completeTask(b, worker, waiting)).status).toBe(409);
    // Work that has begun may be finished, because the peer's operator may add this relay again.
    expect(await getTaskAt(b, pathOf(begun.task_id))).toMatchObject({ status: "claimed" });
    expect(await getReconciliation(b)).toMatchObject({ consistent: true });
    await b.as(worker, "DELETE", `${pathOf(begun.task_id)}/claim`);
    await pass(2);
    await waitUntil(
      async () => (await getTaskAt(b, pathOf(begun.task_id))).status === "cancelled",
      "a cancel",
    );
  });

  test("FE31: a task of a peer that missed its heartbeats goes on waiting, because the peer did not end the peering", async () => {
    const { a, b, clock, worker } = sites;
    const task = await submit();
    const there = await waitForTask(b, worker, task.task_id);
    await a.relay.drain();
    for (let at = 0; at < 6; at += 1) {
      await clock.advance(60_000);
      await b.relay.tick();
      await b.relay.idle();
    }
    expect((await listPeers(b))[0]).toMatchObject({ state: "removed" });
    const path = `/agent/${worker.agentId}/task/${there.task_id}`;
    const isWaiting = async () => (await getTaskAt(b, path)).status === "pending";
    await waitUntil(isWaiting, "an end of the call of its endpoint");
  });
});
