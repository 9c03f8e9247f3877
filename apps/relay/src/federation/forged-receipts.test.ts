import { createReceipt, type TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  getReconciliation,
  getPeerPositions,
  startNetwork,
  submitToBest,
  waitForTask,
  waitUntil,
  completeTask,
  type TestSite,
  listPeers,
} from "../../test/network/network.ts";
import { getAgentStates } from "../../test/market.ts";

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
});
afterEach(() => network.close());

/** Submits a task of price 1 that alpha forwards to beta. */
async function forwarded() {
  const { body } = await submitToBest(a, boss);
  const taskId = String(body["task_id"]);
  const path = `/agent/${boss.agentId}/task/${taskId}`;
  const status = async () => {
    const poll = await a.as(boss, "GET", path);
    return (poll.body["task"] as { status: string }).status;
  };
  await waitUntil(async () => (await status()) === "claimed", "the task is forwarded");
  const task = { task_id: taskId, prompt: "work", submitted_at: network.clock.now() };
  return { task, path, status };
}

/** Posts the receipt of a free task of the delegator to itself, with `inner` nested in it. */
async function nestInOwnTask(inner: ReturnType<typeof createReceipt>) {
  const own = `/agent/${boss.agentId}/task`;
  const { body } = await a.as(boss, "POST", own, { prompt: "mine" });
  const task = { task_id: String(body["task_id"]), prompt: "mine", submitted_at: a.clock.now() };
  const outer = createReceipt(boss, task, { delegation_receipts: [inner] });
  return a.as(boss, "POST", `${own}/${task.task_id}/result`, outer);
}

const reservedAt = async (site: TestSite) =>
  (await listPeers(site)).map(({ reserved }) => reserved);

describe("a nested receipt that the delegator forged for its forwarded task", () => {
  /** Creates an agent unknown to both relays with the worker's id. */
  const impostor = () => ({ ...a.createUnknownAgent(), agentId: worker.agentId });

  test.each<[string, () => Promise<TestAgent>]>([
    ["under an invented key", async () => impostor()],
    [
      "under a key that it registered for the worker's id at its own relay",
      async () => {
        const thief = impostor();
        // Its peer lists the worker, so only the operator can bind the id to another key.
        await a.asOperator("POST", "/api/v1/agents/register", {
          agent_id: thief.agentId,
          public_key: thief.publicKey,
          endpoint_url: "http://127.0.0.1:1/mcp",
          capabilities: [],
        });
        const { status, body } = await a.request("POST", "/api/v1/agents/bootstrap", {
          body: { agent_id: thief.agentId, public_key: thief.publicKey },
        });
        expect(status).toBe(200);
        return { ...thief, deviceId: String(body["device_id"]) };
      },
    ],
    ["signed by the true worker, past its own relay", async () => worker],
  ])(
    "A1: a receipt that the delegator forged %s does not end the task, and its worker is paid",
    async (_, forger) => {
      const { task, status } = await forwarded();
      const signer = await forger();
      const before = await getAgentStates(a, [boss]);
      expect(await nestInOwnTask(createReceipt(signer, task))).toMatchObject({ status: 200 });
      expect(await status()).toBe("claimed");
      expect(await reservedAt(a)).toEqual([0.95]);
      const [after] = await getAgentStates(a, [boss]);
      expect(after).toMatchObject({
        balance: before[0]?.balance,
        pending_allocations: before[0]?.pending_allocations,
        settlements: [],
      });
      expect(a.listLogged("multihop.settlement.task_not_found")).toMatchObject([
        { nested_task_id: task.task_id, code: "nested.task_with_peer" },
      ]);

      await completeTask(b, worker, await waitForTask(b, worker, task.task_id));
      await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
      await waitUntil(async () => (await a.getBalance(boss)) === 9, "the delegator is charged");
      expect(await status()).toBe("completed");
      expect(await getPeerPositions(a)).toEqual({ [b.relayId]: 0.95 });
      expect(await reservedAt(a)).toEqual([0]);
      for (const site of [a, b]) {
        expect(await getReconciliation(site)).toMatchObject({
          consistent: true,
          totals: { holds: 0 },
        });
      }
    },
  );

  test("A1: ten concurrent forged nested receipts end no task, before or after its result", async () => {
    const { task, status } = await forwarded();
    const forged = () => nestInOwnTask(createReceipt(impostor(), task));
    await Promise.all(Array.from({ length: 5 }, forged));
    expect(await status()).toBe("claimed");
    await completeTask(b, worker, await waitForTask(b, worker, task.task_id));
    await Promise.all(Array.from({ length: 5 }, forged));
    await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
    await waitUntil(async () => (await a.getBalance(boss)) === 9, "the delegator is charged");
  });
});

test("A1: a nested receipt does not end a task that came from a peer", async () => {
  const { task } = await forwarded();
  const there = await waitForTask(b, worker, task.task_id);
  const path = `/agent/${worker.agentId}/task`;
  const { body } = await b.as(worker, "POST", path, { prompt: "mine" });
  const own = { task_id: String(body["task_id"]), prompt: "mine", submitted_at: b.clock.now() };
  const outer = createReceipt(worker, own, { delegation_receipts: [createReceipt(worker, there)] });
  await b.as(worker, "POST", `${path}/${own.task_id}/result`, outer);
  expect(await b.as(worker, "GET", `${path}/${task.task_id}`)).toMatchObject({
    body: { task: { status: "pending" } },
  });
  expect(await completeTask(b, worker, there)).toMatchObject({ status: 200 });
  await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
});
