import { afterEach, expect, test } from "vitest";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import { submitTask } from "../../test/market.ts";
import { startNetwork, waitForTask, type TestSite } from "../../test/network/network.ts";
import { startTestRelay } from "../../test/test-relay.ts";

let network: Awaited<ReturnType<typeof startNetwork>> | undefined;
afterEach(async () => {
  await network?.close();
  network = undefined;
});

test.each([
  [9, 201, undefined],
  [10, 400, "task.too_deep"],
])(
  "H8: a task below a forwarded one counts the delegations at its origin: below %i the answer is %i",
  async (depth, status, code) => {
    network = await startNetwork(["alpha", "beta"], [[0, 1]]);
    const [a, b] = network.sites as [TestSite, TestSite];
    const worker = await b.createWorker(0);
    const helper = await b.createWorker(0);
    let by = await a.createAgent();
    let parent = {};
    for (let above = 0; above < depth; above += 1) {
      const to = await a.createAgent();
      const { body } = await submitTask(a, by, to, parent);
      parent = { parent_task_id: body["task_id"] };
      by = to;
    }
    await a.as(by, "GET", `/api/v1/agents/${worker.agentId}`);
    const { body } = await submitTask(a, by, worker, parent);
    const { task_id } = await waitForTask(b, worker, String(body["task_id"]));
    const answer = await submitTask(b, worker, helper, { parent_task_id: task_id });
    expect([answer.status, answer.body["code"]]).toEqual([status, code]);
  },
);

test("H8: a task that a peer forwards without a depth counts as the first of its chain", async () => {
  const t = await startTestRelay({ AGENT_FEDERATION_ENDPOINT_URL: "https://relay.example" });
  const peer = await createFakePeer(t).completeHandshake();
  const worker = await t.createWorker(0);
  const forwarded = await peer.forward({
    target_agent: worker.agentId,
    budget: { amount: 0, currency: "USD" },
  });
  expect(forwarded.status).toBe(202);
  const parent_task_id = forwarded.body["task_id"];
  expect((await submitTask(t, worker, worker, { parent_task_id })).status).toBe(201);
  await t.close();
});
