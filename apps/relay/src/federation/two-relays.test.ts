import {
  hashReceipt,
  verifyAttestation,
  verifyReceipt,
  type ExecutionReceipt,
} from "@agent/receipts";
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
} from "../../test/network/network.ts";

let network: Awaited<ReturnType<typeof startNetwork>>;
let a: TestSite;
let b: TestSite;
beforeEach(async () => {
  network = await startNetwork(["alpha", "beta"], [[0, 1]]);
  [a, b] = network.sites as [TestSite, TestSite];
});
afterEach(() => network.close());

describe("two relays over sockets", () => {
  test("two relays split a price of 1.00: 0.05 for the first, 0.0475 for the second and 0.9025 for the worker", async () => {
    const boss = await a.createAgent();
    await a.deposit(boss, 10);
    const worker = await b.createWorker(1);

    const submitted = await submitToBest(a, boss);
    expect(submitted).toMatchObject({
      status: 201,
      body: {
        estimated_cost: 1,
        routing_choice: {
          selected_agent: worker.agentId,
          routing_paths: [["self", `relay:${a.relayId}`, `relay:${b.relayId}`, worker.agentId]],
        },
      },
    });
    const task = await waitForTask(b, worker);
    expect(task.task_id).toBe(submitted.body["task_id"]);
    expect(await completeTask(b, worker, task)).toMatchObject({ status: 200 });

    await waitUntil(async () => (await a.getBalance(boss)) === 9, "the payer is charged");
    await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
    expect(await getPeerPositions(a)).toEqual({ [b.relayId]: 0.95 });
    expect(await getPeerPositions(b)).toEqual({ [a.relayId]: -0.95 });
    expect(await getReconciliation(a)).toMatchObject({
      consistent: true,
      totals: { fees: 0.05, holds: 0 },
    });
    expect(await getReconciliation(b)).toMatchObject({
      consistent: true,
      totals: { fees: 0.0475, holds: 0 },
    });
  });
});

test("a remote agent is found by its id, and its result is shown with its relay's attestation", async () => {
  const boss = await a.createAgent();
  const worker = await b.createWorker(0);
  const found = await a.as(boss, "GET", `/api/v1/agents/${worker.agentId}`);
  expect(found).toMatchObject({
    status: 200,
    body: {
      public_key: worker.publicKey,
      source_relay: b.relayId,
      relay_name: "beta",
      hop_distance: 1,
      endpoint_url: null,
    },
  });
  const unknown = await a.as(boss, "GET", `/api/v1/agents/${a.createUnknownAgent().agentId}`);
  expect(unknown).toMatchObject({ status: 404, body: { code: "agent.not_found" } });

  const path = `/agent/${worker.agentId}/task`;
  const submitted = await a.as(boss, "POST", path, { prompt: "work" });
  const taskId = String(submitted.body["task_id"]);
  await completeTask(b, worker, await waitForTask(b, worker, taskId));
  const { receipt, attestation } = await waitUntil(async () => {
    const { body } = await a.as(boss, "GET", `${path}/${taskId}`);
    return body["receipt"] !== null && body;
  }, "the result comes back");
  const publicKey = String((await b.request("GET", "/federation/v1/identity")).body["public_key"]);
  const about = { taskId, receiptHash: hashReceipt(receipt as ExecutionReceipt) };
  expect(verifyAttestation(attestation, { publicKey, relayId: b.relayId, ...about })).toMatchObject(
    {
      valid: true,
    },
  );
  expect(verifyReceipt(receipt as object, { publicKey: worker.publicKey, taskId })).toMatchObject({
    valid: true,
  });
});

test("a task that no peer accepted is forwarded again when the peer returns", async () => {
  const boss = await a.createAgent();
  const worker = await b.createWorker(0);
  const path = `/agent/${worker.agentId}/task`;
  await a.as(boss, "GET", `/api/v1/agents/${worker.agentId}`);
  await b.relay.drain();
  const { body } = await a.as(boss, "POST", path, { prompt: "work" });
  const taskId = String(body["task_id"]);
  await waitUntil(
    () => a.listLogged("federation.task.forward").length > 0,
    "the forward is refused",
  );
  const open = await a.as(boss, "GET", `${path}/${taskId}`);
  expect(open.body).toMatchObject({ task: { status: "pending" } });
  await network.clock.advance(60_000);
  await a.relay.tick();
  await waitUntil(() => a.listLogged("federation.task.forward").length > 1, "it is tried again");
});

describe("B1: a priced agent of another relay", () => {
  test("B1: a priced remote agent can be neither target nor candidate for a capability that it does not list", async () => {
    const boss = await a.createAgent();
    await a.deposit(boss, 10);
    const worker = await b.createWorker(2);
    await b.as(worker, "POST", "/api/v1/agents/register", {
      agent_id: worker.agentId,
      endpoint_url: "http://127.0.0.1:1/mcp",
      capabilities: ["summarise", "translate"],
      metadata: { name: "worker", description: "does more than it lists" },
    });
    const wanted = { prompt: "work", required_capabilities: ["translate"] };
    expect(await a.as(boss, "POST", `/agent/${worker.agentId}/task`, wanted)).toMatchObject({
      status: 422,
      body: { code: "task.no_candidate" },
    });
    const elsewhere = await a.as(boss, "POST", `/agent/${boss.agentId}/task`, wanted);
    expect(elsewhere).toMatchObject({ status: 201, body: { routing_choice: null } });
    const found = await a.as(boss, "GET", "/api/v1/agents/discover?capability=translate");
    expect(found.body["agents"]).toEqual([]);
    expect(await a.getBalance(boss)).toBe(10);
    const asListed = { prompt: "work", required_capabilities: ["summarise"] };
    expect(await a.as(boss, "POST", `/agent/${worker.agentId}/task`, asListed)).toMatchObject({
      status: 201,
      body: { estimated_cost: 2 },
    });
  });

  test.each([1, 2, 3, 4])(
    "pages of %i agents show the agents of this relay, then the peer's, and none is empty",
    async (limit) => {
      const boss = await a.createAgent();
      const local = [await a.createWorker(1), await a.createWorker(1)];
      const remote = [await b.createWorker(1), await b.createWorker(1)];
      const sortedIds = (agents: typeof local) => agents.map(({ agentId }) => agentId).sort();
      const seen: string[] = [];
      const query = `capability=summarise&limit=${limit}`;
      for (let cursor: string | null = ""; cursor !== null;) {
        const from: string = cursor === "" ? "" : `&cursor=${cursor}`;
        const { body } = await a.as(boss, "GET", `/api/v1/agents/discover?${query}${from}`);
        const shown = body["agents"] as { readonly agent_id: string }[];
        expect(shown).not.toEqual([]);
        seen.push(...shown.map(({ agent_id }) => agent_id));
        cursor = body["next_cursor"] as string | null;
      }
      expect(seen).toEqual([...sortedIds(local), ...sortedIds(remote)]);
    },
  );

  test("B1: a remote agent without a price takes any capability at price 0", async () => {
    const [boss, worker] = [await a.createAgent(), await b.createWorker(0)];
    const wanted = { prompt: "work", required_capabilities: ["made up"] };
    const submitted = await a.as(boss, "POST", `/agent/${worker.agentId}/task`, wanted);
    expect(submitted).toMatchObject({ status: 201, body: { estimated_cost: 0 } });
    const task = await waitForTask(b, worker, String(submitted.body["task_id"]));
    expect((await completeTask(b, worker, task)).status).toBe(200);
  });
});

test("B12: a task that lives longer than either relay's default does so at the peer as well", async () => {
  const [boss, worker] = [await a.createAgent(), await b.createWorker(0)];
  const submitted = await a.as(boss, "POST", `/agent/${worker.agentId}/task`, {
    prompt: "work",
    ttl_ms: 7_200_000,
  });
  const { expires_at, task_id } = submitted.body as { expires_at: number; task_id: string };
  expect(expires_at).toBe(network.clock.now() + 7_200_000);
  expect(await waitForTask(b, worker, task_id)).toMatchObject({ expires_at });
  await network.clock.advance(3_000_000);
  await Promise.all([a, b].map((site) => site.relay.tick()));
  const task = await waitForTask(b, worker, task_id);
  expect((await completeTask(b, worker, task)).status).toBe(200);
  await waitUntil(async () => {
    const { body } = await a.as(boss, "GET", `/agent/${worker.agentId}/task/${task_id}`);
    return (body["task"] as { status: string }).status === "completed";
  }, "the result comes back");
});
