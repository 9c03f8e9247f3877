import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  submitTask,
  getTaskAt,
} from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let target: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  [boss, target] = [await createBuyer(t, 1_000), await t.createAgent()];
});
afterEach(() => t.close());

/** Returns the executor of a task with these capabilities; null if only the target remains. */
async function chosen(
  body: Record<string, unknown>,
  required = ["summarise"],
): Promise<string | null> {
  const task = await submitAcceptedTask(t, boss, target, {
    required_capabilities: required,
    ...body,
  });
  const { assigned_to } = await getTaskAt(t, task.path);
  await t.as(boss, "POST", `${task.path}/cancel`);
  return assigned_to;
}

/** Gives an agent the boss's trust. */
async function commend(worker: TestAgent, times = 1): Promise<void> {
  for (let i = 0; i < times; i++) {
    const task = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
  }
}

const drive = (exploration_drive: number) => ({ exploration_drive });

describe("scored routing", () => {
  test("scored routing chooses the best agent with all the capabilities, and records the reasons", async () => {
    const [plain, known] = [await createSeller(t, 1), await createSeller(t, 1)];
    await createSeller(t, { translate: 0 });
    await commend(known);
    const answer = await submitTask(t, boss, target, { required_capabilities: ["summarise"] });
    expect(answer.body["routing_choice"]).toMatchObject({
      selected_agent: known.agentId,
      routing_paths: [["self", known.agentId]],
      alternatives_considered: 1,
    });
    expect(await chosen({ exclude_agents: [known.agentId] })).toBe(plain.agentId);
  });

  test("scored routing requires every capability of a task, and prices it by their sum", async () => {
    await createSeller(t, { summarise: 1 });
    await createSeller(t, { translate: 1 });
    const both = await createSeller(t, { summarise: 1.5, translate: 2.25, other: 9 });
    const required_capabilities = ["summarise", "translate"];
    const answer = await submitTask(t, boss, target, { required_capabilities });
    expect(answer.body).toMatchObject({
      routing_choice: { selected_agent: both.agentId, alternatives_considered: 0 },
      estimated_cost: 3.75,
    });
    expect(await chosen({}, ["summarise", "unheard of"])).toBe(null);
  });

  test("scored routing falls back to the target if no agent can do the task", async () => {
    const answer = await submitTask(t, boss, target, { required_capabilities: ["unheard of"] });
    expect(answer).toMatchObject({ status: 201, body: { routing_choice: null } });
  });

  test("scored routing never chooses an agent above max_budget, however many such agents rank higher", async () => {
    for (let i = 0; i < 10; i++) await commend(await createSeller(t, 5), 1);
    const cheap = [await createSeller(t, 2), await createSeller(t, 2)];
    const answer = await submitTask(t, boss, target, {
      required_capabilities: ["summarise"],
      max_budget: 2,
    });
    const { selected_agent } = answer.body["routing_choice"] as { selected_agent: string };
    expect(cheap.map(({ agentId }) => agentId)).toContain(selected_agent);
    expect(answer.body).toMatchObject({
      estimated_cost: 2,
      routing_choice: { alternatives_considered: 1 },
    });
    expect(await chosen({ max_budget: 1.999999 })).toBe(null);
  });

  test("scored routing without exploration always chooses the same agent, and with it also each of the others", async () => {
    const sellers = [await createSeller(t, 1), await createSeller(t, 2), await createSeller(t, 3)];
    const tries = async (body: object) => {
      const seen = new Set<string | null>();
      for (let i = 0; i < 40; i++) seen.add(await chosen({ ...body }));
      return seen;
    };
    expect((await tries(drive(0))).size).toBe(1);
    expect(await tries(drive(1))).toEqual(new Set(sellers.map(({ agentId }) => agentId)));
  });

  test("the agent that exploration chooses is paid its own price", async () => {
    const prices = new Map<string | null, number>();
    for (const price of [1, 2, 3]) prices.set((await createSeller(t, price)).agentId, price);
    for (let i = 0; i < 20; i++) {
      const { body } = await submitTask(t, boss, target, {
        required_capabilities: ["summarise"],
        ...drive(1),
      });
      const { selected_agent } = body["routing_choice"] as { selected_agent: string };
      expect(body["estimated_cost"]).toBe(prices.get(selected_agent));
    }
  });
});

describe("RT2 scored routing never chooses", () => {
  test.each([0, 1])("the submitter, with exploration %d", async (exploration) => {
    const other = await createSeller(t, 5);
    boss = await createSeller(t, 0);
    await t.deposit(boss, 1_000);
    for (let i = 0; i < 20; i++) expect(await chosen(drive(exploration))).toBe(other.agentId);
    expect(await chosen({ exclude_agents: [other.agentId], ...drive(exploration) })).toBe(null);
  });

  test.each([0, 1])(
    "an agent that the submitter excludes, with exploration %d",
    async (exploration) => {
      const [out, left] = [await createSeller(t, 0), await createSeller(t, 5)];
      await commend(out, 5);
      for (let i = 0; i < 20; i++) {
        const body = { exclude_agents: [out.agentId], ...drive(exploration) };
        expect(await chosen(body)).toBe(left.agentId);
      }
    },
  );

  test("any agent except the excluded ones is eligible for a task of the operator without a payer", async () => {
    const [free, other] = [await createSeller(t, 0), await createSeller(t, 0)];
    const submitted = await t.asOperator("POST", `/agent/${target.agentId}/task`, {
      prompt: "work",
      required_capabilities: ["summarise"],
      exclude_agents: [other.agentId],
    });
    expect(submitted.body["routing_choice"]).toMatchObject({ selected_agent: free.agentId });
  });
});

describe("A12: max_budget", () => {
  const required = { required_capabilities: ["summarise"] };
  const choiceOf = async (body: object) =>
    (await submitTask(t, boss, target, { ...required, ...body })).body["routing_choice"] as object;

  test("A12: max_budget changes neither the choice nor any of its scores when it covers the price", async () => {
    const [cheap, known] = [await createSeller(t, 1), await createSeller(t, 2)];
    await createSeller(t, 500);
    for (let i = 0; i < 5; i += 1) await commend(known);
    const free = await choiceOf({});
    expect(free).toMatchObject({ selected_agent: known.agentId, alternatives_considered: 2 });
    const sub_scores = (free as { sub_scores: { cost: number } }).sub_scores;
    expect(sub_scores.cost).toBe(0.5);
    for (const max_budget of [500, 2.4, 2]) {
      expect(await choiceOf({ max_budget })).toMatchObject({
        selected_agent: known.agentId,
        sub_scores,
      });
    }
    expect(await choiceOf({ max_budget: 1.999999 })).toMatchObject({
      selected_agent: cheap.agentId,
    });
  });

  test("A12: max_budget finds the executors that it covers, however many dearer ones rank higher", async () => {
    const sellers = [await createSeller(t, 3), await createSeller(t, 2), await createSeller(t, 1)];
    for (let i = 0; i < 10; i += 1) await commend(await createSeller(t, 9));
    const executorsOf = async (body: object) => {
      const task = await submitAcceptedTask(t, boss, target, { ...required, ...body });
      const { body: record } = await t.as(boss, "GET", `${task.path}/routing`);
      return record["choice"] as { selected_agent: string; alternatives_considered: number };
    };
    const capped = await executorsOf({ max_budget: 3 });
    expect(sellers.map(({ agentId }) => agentId)).toContain(capped.selected_agent);
    expect(capped.alternatives_considered).toBe(2);
  });
});

describe("listings of strangers at absurd prices", () => {
  const required = { required_capabilities: ["summarise"] };

  /** Lists an agent that promises the shortest latency, which costs it nothing. */
  async function createDearSeller(price: number): Promise<TestAgent> {
    const agent = await t.createAgent();
    await t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/listing`, {
      capabilities: ["summarise"],
      pricing: [{ capability: "summarise", unit_cost: price }],
      sla: { max_latency_ms: 1, availability_guarantee: 0.9 },
    });
    return agent;
  }

  test.each([
    [
      "MN55: one listing of 1e9 does not make an agent that costs 50 rank before one that costs 1",
      1e9,
    ],
    ["MN55: nor does one listing of a micro-unit", 0.000001],
  ])("%s", async (_title, absurd) => {
    for (let count = 0; count < 2; count += 1) await createSeller(t, 1);
    await createDearSeller(50);
    await createSeller(t, absurd);
    const { body } = await submitTask(t, boss, target, required);
    expect(body["estimated_cost"]).toBeLessThanOrEqual(1);
  });

  test("MN55: any number of them changes no price score of agents that strangers trust more", async () => {
    const paid = await createSeller(t, 1);
    await commend(paid);
    const costOf = async () => {
      const { body } = await submitTask(t, boss, target, required);
      return body["routing_choice"] as object;
    };
    const before = await costOf();
    for (let count = 0; count < 5; count += 1) await createDearSeller(1e9);
    expect(await costOf()).toEqual({ ...before, alternatives_considered: 5 });
  });

  test("an agent that costs less still ranks before an equal one", async () => {
    const [dear, cheap] = [await createSeller(t, 2), await createSeller(t, 1)];
    const { body } = await submitTask(t, boss, target, required);
    expect(body["routing_choice"]).toMatchObject({ selected_agent: cheap.agentId });
    const excluded = { ...required, exclude_agents: [cheap.agentId] };
    expect((await submitTask(t, boss, target, excluded)).body["routing_choice"]).toMatchObject({
      selected_agent: dear.agentId,
    });
  });
});
