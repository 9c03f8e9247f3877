import { signCancelAnswer } from "@agent/federation-protocol/forwarding";
import { createSeededRandom, type TestAgent } from "@agent/testkit";
import type { Task } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { federated, forwardTaskToPeer } from "../../test/contract/operator/federation.ts";
import type { FakePeer } from "../../test/network/fake-peer.ts";
import {
  getReconciliation,
  startNetwork,
  submitToBest,
  waitForTask,
  waitUntil,
  completeTask,
  type TestSite,
  getPeer,
} from "../../test/network/network.ts";
import { createReceipt, startTestRelay } from "../../test/test-relay.ts";

let network: Awaited<ReturnType<typeof startNetwork>>;
let a: TestSite;
let b: TestSite;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  network = await startNetwork(["alpha", "beta"], [[0, 1]]);
  [a, b] = network.sites as [TestSite, TestSite];
  boss = await a.createAgent();
  await a.deposit(boss, 10);
  worker = await b.createWorker(1);
  await network.clock.advance(1_000);
});
afterEach(() => network.close());

/** Submits a task at the first relay, which waits there for the worker at the second relay. */
async function forwarded(): Promise<{ path: string; task: Task }> {
  const { body, status } = await submitToBest(a, boss);
  expect(status).toBe(201);
  const taskId = String(body["task_id"]);
  const task = await waitForTask(b, worker, taskId);
  const path = `/agent/${boss.agentId}/task/${taskId}`;
  await waitUntil(async () => (await statusAt(a, path)) === "claimed", "the forward is known");
  return { path, task };
}

const workerPath = ({ task_id }: Task) => `/agent/${worker.agentId}/task/${task_id}`;

async function statusAt(site: TestSite, path: string): Promise<string | undefined> {
  const { body } = await site.asOperator("GET", path);
  return (body["task"] as Task | undefined)?.status;
}

/** The worker can claim its task once the relay's call of its endpoint has failed. */
async function claim(task: Task): Promise<void> {
  const tryClaim = async () =>
    (await b.as(worker, "POST", `${workerPath(task)}/claim`)).status === 200;
  await waitUntil(tryClaim, "the worker has the task");
}

const cancel = (path: string) => a.as(boss, "POST", `${path}/cancel`);

/** Advances the clock and runs the due work of all relays; their requests take real time. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    await network.clock.advance(Math.min(left, 5_000));
    for (const site of network.sites) await site.relay.tick();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function isCancelled(site: TestSite, path: string): Promise<boolean> {
  if ((await statusAt(site, path)) === "cancelled") return true;
  await pass(5_000);
  return false;
}

async function reservedAt(site: TestSite): Promise<number> {
  return (await getPeer(site)).reserved ?? 0;
}

async function expectCancelled(path: string, task: Task): Promise<void> {
  await waitUntil(() => isCancelled(a, path), "the cancel takes effect");
  expect(await statusAt(b, workerPath(task))).toBe("cancelled");
  expect([await a.getBalance(boss), await b.getBalance(worker)]).toEqual([10, 0]);
  for (const site of [a, b]) {
    expect(await getReconciliation(site)).toMatchObject({ consistent: true, totals: { holds: 0 } });
    expect(await reservedAt(site)).toBe(0);
  }
}

describe("B2: the cancel of a forwarded task", () => {
  test("B2: the relay cancels an unclaimed forwarded task as soon as the peer's signed answer arrives", async () => {
    const { path, task } = await forwarded();
    expect(await cancel(path)).toMatchObject({ status: 202, body: { status: "claimed" } });
    await expectCancelled(path, task);
    const late = await completeTask(b, worker, task);
    expect(late).toMatchObject({ status: 409, body: { code: "task.already_finished" } });
  });

  test("B2: a claimed task is cancelled here once the remote worker has been asked and has agreed", async () => {
    const { path, task } = await forwarded();
    await claim(task);
    expect((await cancel(path)).status).toBe(202);
    const noted = async () => {
      const { body } = await b.as(worker, "GET", workerPath(task));
      return (body["task"] as Task).cancel_requested_at;
    };
    await waitUntil(async () => (await noted()) !== undefined, "the worker is asked");
    expect(await statusAt(a, path)).toBe("claimed");
    expect((await b.as(worker, "DELETE", `${workerPath(task)}/claim`)).body).toMatchObject({
      status: "cancelled",
    });
    await expectCancelled(path, task);
  });

  test("B2: the relay cancels a forwarded task after 60 s when the remote worker does not answer", async () => {
    const { path, task } = await forwarded();
    await claim(task);
    await cancel(path);
    await waitUntil(() => a.listLogged("federation.task.cancel").length > 0, "the peer is asked");
    await pass(50_000);
    expect(await statusAt(a, path)).toBe("claimed");
    await pass(15_000);
    await expectCancelled(path, task);
  });

  test("B2: the result of a worker that continues takes precedence over a cancel", async () => {
    const { path, task } = await forwarded();
    await claim(task);
    await cancel(path);
    await waitUntil(() => a.listLogged("federation.task.cancel").length > 0, "the peer is asked");
    for (let minutes = 0; minutes < 3; minutes += 1) {
      await pass(50_000);
      const note = { note: "still at it" };
      expect((await b.as(worker, "POST", `${workerPath(task)}/progress`, note)).status).toBe(200);
    }
    expect(await completeTask(b, worker, task)).toMatchObject({ status: 200 });
    await waitUntil(async () => (await a.getBalance(boss)) === 9, "the payer is charged");
    await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
    expect(await statusAt(a, path)).toBe("completed");
  });

  test("B2: a task without the peer's answer to its cancel ends only by expiry, which is the peer's no-show", async () => {
    const { path, task } = await forwarded();
    await claim(task);
    await b.stop();
    expect((await cancel(path)).status).toBe(202);
    for (let minutes = 0; minutes < 14; minutes += 1) {
      await network.clock.advance(60_000);
      await a.relay.tick();
    }
    expect(await statusAt(a, path)).toBe("claimed");
    expect(await a.getBalance(boss)).toBeLessThan(10);
    await network.clock.advance(60_000);
    await a.relay.tick();
    expect((await a.as(boss, "GET", path)).status).toBe(404);
    expect(await a.getBalance(boss)).toBe(10);
    const { body } = await a.as(boss, "GET", `${path}/evidence`);
    expect(body).toMatchObject({ no_shows: [{ agent_id: b.relayId, priced: true }] });
    // No no-show is recorded for the worker here: whether it worked is not known.
    const own = await a.as(boss, "GET", `/api/v1/agents/${boss.agentId}/trust`);
    expect(own.body["records"]).toEqual([]);
  });
});

test("B2: a middle relay cancels a forwarded task once the last relay has agreed", async () => {
  await network.close();
  network = await startNetwork(
    ["alpha", "beta", "gamma"],
    [
      [0, 1],
      [1, 2],
    ],
  );
  const [first, middle, last] = network.sites as [TestSite, TestSite, TestSite];
  const payer = await first.createAgent();
  await first.deposit(payer, 10);
  const hand = await last.createWorker(1);
  await network.clock.advance(1_000);
  const { body, status } = await submitToBest(first, payer);
  expect(status).toBe(201);
  const taskId = String(body["task_id"]);
  await waitForTask(last, hand, taskId);
  const path = `/agent/${payer.agentId}/task/${taskId}`;
  await waitUntil(async () => (await statusAt(first, path)) === "claimed");
  expect((await first.as(payer, "POST", `${path}/cancel`)).status).toBe(202);
  await waitUntil(() => isCancelled(first, path), "the first relay knows");
  expect(await first.getBalance(payer)).toBe(10);
  for (const site of [first, middle, last]) {
    expect(await getReconciliation(site)).toMatchObject({ consistent: true, totals: { holds: 0 } });
  }
  const late = await last.as(
    hand,
    "POST",
    `/agent/${hand.agentId}/task/${taskId}/result`,
    createReceipt(hand, { task_id: taskId, prompt: "work", submitted_at: network.clock.now() }),
  );
  expect(late.status).toBe(409);
});

describe("B2: a peer's answer to a cancel", () => {
  const yesOf = (peer: FakePeer, taskId: string, secretKey = peer.secretKey) =>
    signCancelAnswer(
      { status: "cancelled", taskId, relayId: peer.relayId },
      { secretKey, now: network.clock.now() },
    );
  const forger = createSeededRandom(77).randomBytes(32);

  test.each<[string, (peer: FakePeer, taskId: string) => object, string]>([
    ["is accepted with its signature", yesOf, "cancelled"],
    [
      "is rejected without a signature",
      (peer, task_id) => ({ status: "cancelled", task_id, relay_id: peer.relayId }),
      "claimed",
    ],
    ["is rejected under another key", (peer, taskId) => yesOf(peer, taskId, forger), "claimed"],
    ["is rejected for another task", (peer) => yesOf(peer, peer.relayId), "claimed"],
  ])("B2: %s", async (_, answer, status) => {
    const t = await startTestRelay(federated);
    const known: { peer?: FakePeer } = {};
    const away = await forwardTaskToPeer(
      t,
      1,
      (taskId) => known.peer && answer(known.peer, taskId),
    );
    known.peer = away.peer;
    const path = `/agent/${away.boss.agentId}/task/${away.task.task_id}`;
    expect((await t.as(away.boss, "POST", `${path}/cancel`)).status).toBe(202);
    const asked = () => t.listLogged("federation.task.cancel").length > 0;
    await waitUntil(asked, "the peer is asked");
    const { body } = await t.as(away.boss, "GET", path);
    expect(body).toMatchObject({ task: { status } });
    expect((await t.getBalance(away.boss)) === 10).toBe(status === "cancelled");
    await away.listening.close();
    await t.close();
  });
});
