import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  getAgentStates,
  putListing,
  createSeller,
  submitTask,
  getTaskAt,
} from "../../test/market.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  boss = await createBuyer(t, 10);
});
afterEach(() => t.close());

/** Registers capabilities beside those of the listing. */
async function register(agent: TestAgent, capabilities: readonly string[]): Promise<void> {
  const { status } = await t.as(agent, "POST", "/api/v1/agents/register", {
    agent_id: agent.agentId,
    endpoint_url: "http://127.0.0.1:1/mcp",
    capabilities,
    metadata: { name: "worker", description: "does more than it lists" },
  });
  expect(status).toBe(200);
}

const block = (agent: TestAgent) =>
  t.as(boss, "PUT", `/api/v1/agents/${boss.agentId}/trust/${agent.agentId}`, {
    trust_level: "blocked",
  });

/** Expects that a submission is refused, holds nothing and leaves no task. */
async function expectRefused(
  answer: () => Promise<Reply>,
  refusal: { readonly status: number; readonly code: string },
): Promise<void> {
  const before = await getAgentStates(t, [boss]);
  const { status, body } = await answer();
  expect({ status, code: body["code"] }).toEqual(refusal);
  expect(await getAgentStates(t, [boss])).toEqual(before);
  const submitted = `/agent/${boss.agentId}/tasks?submitted_by=me`;
  expect((await t.as(boss, "GET", submitted)).body["tasks"]).toEqual([]);
}

const noCandidate = { status: 422, code: "task.no_candidate" };
const targetBlocked = { status: 403, code: "task.target_blocked" };

describe("B1: a priced agent works only for capabilities that it lists", () => {
  test("B1: a made-up capability buys no work of a priced agent", async () => {
    const worker = await createSeller(t, 2);
    const wanted = { required_capabilities: ["made up"] };
    await expectRefused(() => submitTask(t, boss, worker, wanted), noCandidate);
  });

  test("B1: a submission is refused even if only one of several capabilities is not listed", async () => {
    const worker = await createSeller(t, 2);
    const wanted = { required_capabilities: ["summarise", "made up"] };
    await expectRefused(() => submitTask(t, boss, worker, wanted), noCandidate);
  });

  test("B1: registering a capability does not list it", async () => {
    const worker = await t.createWorker(2);
    await register(worker, ["summarise", "translate"]);
    const wanted = { required_capabilities: ["translate"] };
    await expectRefused(() => submitTask(t, boss, worker, wanted), noCandidate);
    const elsewhere = await submitTask(t, boss, await t.createAgent(), wanted);
    expect(elsewhere.body).toMatchObject({ routing_choice: null, estimated_cost: 0 });
  });

  test("B1: a refused submission without money or payer is answered with 422 as well, not with 402", async () => {
    const worker = await createSeller(t, 2);
    const body = { prompt: "work", required_capabilities: ["made up"] };
    const poor = await submitTask(t, await t.createAgent(), worker, body);
    expect(poor).toMatchObject({ status: 422, body: { code: "task.no_candidate" } });
    const path = `/agent/${worker.agentId}/task`;
    expect(await t.asOperator("POST", path, { ...body, max_budget: 0 })).toMatchObject({
      status: 422,
      body: { code: "task.no_candidate" },
    });
  });

  test("B1: a submission to oneself follows the same rule", async () => {
    await putListing(t, boss, 2);
    const wanted = { required_capabilities: ["made up"] };
    await expectRefused(() => submitTask(t, boss, boss, wanted), noCandidate);
  });

  test("B1: a target that does not list the capability is replaced by a candidate that does", async () => {
    const [worker, other] = [await t.createWorker(2), await createSeller(t, { translate: 1 })];
    await register(worker, ["summarise", "translate"]);
    const answer = await submitTask(t, boss, worker, { required_capabilities: ["translate"] });
    expect(answer).toMatchObject({
      status: 201,
      body: { estimated_cost: 1, routing_choice: { alternatives_considered: 0 } },
    });
    const path = `/agent/${worker.agentId}/task/${String(answer.body["task_id"])}`;
    expect(await getTaskAt(t, path)).toMatchObject({ assigned_to: other.agentId });
  });

  test("B1: the market does not offer an agent for a capability that it only registered", async () => {
    const worker = await t.createWorker(2);
    await register(worker, ["summarise", "translate"]);
    const market = async (capability: string) =>
      (await t.as(boss, "GET", `/api/v1/market/candidates?capability=${capability}`)).body;
    expect(await market("translate")).toEqual({ candidates: [] });
    expect(await market("summarise")).toMatchObject({
      candidates: [{ agent_id: worker.agentId, affordable: true }],
    });
    const { body } = await t.as(boss, "GET", "/api/v1/agents/discover?capability=translate");
    expect(body["agents"]).toMatchObject([{ agent_id: worker.agentId, cost: null }]);
  });

  test("B1: a capability that is listed without a price costs nothing, as specified", async () => {
    const worker = await createSeller(t, { summarise: 2 });
    await t.as(worker, "POST", `/api/v1/agents/${worker.agentId}/listing`, {
      capabilities: ["summarise", "greet"],
      pricing: [{ capability: "summarise", unit_cost: 2 }],
    });
    const answer = await submitTask(t, boss, worker, { required_capabilities: ["greet"] });
    expect(answer).toMatchObject({ status: 201, body: { estimated_cost: 0 } });
    const both = { required_capabilities: ["greet", "summarise"] };
    expect((await submitTask(t, boss, worker, both)).body).toMatchObject({ estimated_cost: 2 });
  });

  test("B1: a target without a priced listing takes any capability at price 0", async () => {
    const targets = [
      await t.createAgent(),
      await createSeller(t, {}),
      await createSeller(t, 0),
      t.createUnknownAgent(),
    ];
    for (const target of targets) {
      const answer = await submitTask(t, boss, target, { required_capabilities: ["made up"] });
      expect(answer).toMatchObject({
        status: 201,
        body: { estimated_cost: 0, routing_choice: null },
      });
    }
  });
});

describe("B5: an excluded agent gets no task", () => {
  test.each([[undefined], [["summarise"]]])(
    "B5: an excluded target is refused with the required capabilities %j",
    async (required_capabilities) => {
      const worker = await createSeller(t, 2);
      const wanted = { required_capabilities, exclude_agents: [worker.agentId] };
      await expectRefused(() => submitTask(t, boss, worker, wanted), noCandidate);
    },
  );

  test("B5: an excluded target is refused even if it is free or unknown", async () => {
    for (const target of [await t.createAgent(), t.createUnknownAgent()]) {
      const wanted = { exclude_agents: [target.agentId] };
      await expectRefused(() => submitTask(t, boss, target, wanted), noCandidate);
    }
  });

  test("B5: an excluded target is replaced by another candidate, and is not tried after it", async () => {
    const [worker, other] = [await createSeller(t, 0), await createSeller(t, 0)];
    const answer = await submitTask(t, boss, worker, {
      required_capabilities: ["summarise"],
      exclude_agents: [worker.agentId],
    });
    expect(answer).toMatchObject({
      status: 201,
      body: { routing_choice: { selected_agent: other.agentId } },
    });
  });

  test("B5: the target still gets its task if another agent is excluded", async () => {
    const [worker, other] = [await createSeller(t, 2), await t.createAgent()];
    const answer = await submitTask(t, boss, worker, { exclude_agents: [other.agentId] });
    expect(answer.status).toBe(201);
  });
});

describe("B6: an agent that the payer blocked gets no task", () => {
  test.each([[undefined], [["summarise"]]])(
    "B6: a blocked target is refused with the required capabilities %j",
    async (required_capabilities) => {
      const worker = await createSeller(t, 2);
      expect((await block(worker)).status).toBe(200);
      await expectRefused(
        () => submitTask(t, boss, worker, { required_capabilities }),
        targetBlocked,
      );
    },
  );

  test("B6: a refused submission without money is answered with 403 as well, not with 402", async () => {
    const worker = await createSeller(t, 20);
    await block(worker);
    await expectRefused(() => submitTask(t, boss, worker), targetBlocked);
  });

  test("B6: a blocked target is replaced by another candidate", async () => {
    const [worker, other] = [await createSeller(t, 2), await createSeller(t, 2)];
    await block(worker);
    const answer = await submitTask(t, boss, worker, { required_capabilities: ["summarise"] });
    expect(answer).toMatchObject({
      status: 201,
      body: { routing_choice: { selected_agent: other.agentId } },
    });
  });

  test("B6: a block counts only for the agent that set it", async () => {
    const [worker, other] = [await createSeller(t, 2), await createBuyer(t, 10)];
    await block(worker);
    expect((await submitTask(t, other, worker)).status).toBe(201);
    const unpaid = await t.asOperator("POST", `/agent/${(await t.createAgent()).agentId}/task`, {
      prompt: "work",
    });
    expect(unpaid.status).toBe(201);
  });

  test("B6: an agent's blocks apply to the operator's submissions for that agent", async () => {
    const worker = await createSeller(t, 2);
    await block(worker);
    const path = `/agent/${worker.agentId}/task`;
    await expectRefused(
      () => t.asOperator("POST", path, { prompt: "work", submitted_by: boss.agentId }),
      targetBlocked,
    );
  });
});
