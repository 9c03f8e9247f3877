import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { putListing, createSeller } from "../../test/market.ts";
import { addPeer, startNetwork, type TestSite } from "../../test/network/network.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let ann: TestAgent;
let bob: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  [boss, ann, bob] = [
    await t.createAgent(),
    await createSeller(t, { draw: 2, paint: 5 }),
    await t.createAgent(),
  ];
  await putListing(t, bob, { write: 0.5 });
});
afterEach(() => t.close());

const path = (plan = "") => `/api/v1/agents/${boss.agentId}/plans${plan}`;

function put(steps: readonly object[], plan: object = {}): Promise<Reply> {
  const numbered = steps.map((step, ordinal) => ({ step_id: `s${ordinal}`, ordinal, ...step }));
  const body = { plan_id: "p", goal_id: "g", title: "a plan", steps: numbered, ...plan };
  return t.as(boss, "POST", path(), body);
}

const allocationOf = async (steps: readonly object[], plan: object = {}) => {
  const { status, body } = await put(steps, plan);
  expect(status).toBe(201);
  return body["allocation"];
};

describe("B11: allocation of plans", () => {
  test("B11: a plan allocates by agent or capability, in the order of its steps, at the price of each task", async () => {
    const steps = [
      { agent_id: ann.agentId, capability: "draw" },
      { capability: "write" },
      {},
      { agent_id: ann.agentId, capability: "paint" },
    ];
    expect(await allocationOf(steps, { max_budget: 7.5 })).toEqual([
      { step_id: "s0", agent_id: ann.agentId, amount: 2 },
      { step_id: "s1", agent_id: bob.agentId, amount: 0.5 },
      { step_id: "s3", agent_id: ann.agentId, amount: 5 },
    ]);
    expect(await t.getBalance(boss)).toBe(0);
  });

  test("B11: a plan allocates an agent for a step without a capability at the price of a task without one", async () => {
    const steps = [{ agent_id: bob.agentId }, { agent_id: boss.agentId }];
    expect(await allocationOf(steps)).toEqual([
      { step_id: "s0", agent_id: bob.agentId, amount: 0.5 },
      { step_id: "s1", agent_id: boss.agentId, amount: 0 },
    ]);
  });

  test("B11: a plan allocates nothing if its total is a micro-unit above the budget", async () => {
    const steps = [{ capability: "draw" }, { capability: "write" }];
    expect(await allocationOf(steps, { max_budget: 2.499999 })).toEqual([]);
    expect((await put(steps, { max_budget: 2.5 })).body["allocation"]).toHaveLength(2);
  });

  test.each<[string, () => object]>([
    [
      "costs more than its budget",
      () => ({ agent_id: ann.agentId, capability: "draw", max_budget: 1 }),
    ],
    ["finds no agent within its budget", () => ({ capability: "draw", max_budget: 1.999999 })],
    ["requires a capability without a provider", () => ({ capability: "dance" })],
  ])("B11: a plan allocates nothing when one of its steps %s", async (_, step) => {
    expect(await allocationOf([{ capability: "write" }, step()])).toEqual([]);
  });

  test("B11: a plan allocates the best agent that the budget of a step covers, but never the planner itself", async () => {
    await putListing(t, boss, { draw: 0 });
    const dear = await createSeller(t, { draw: 9 });
    const steps = [
      { capability: "draw", max_budget: 3 },
      { agent_id: dear.agentId, capability: "draw" },
    ];
    expect(await allocationOf(steps)).toEqual([
      { step_id: "s0", agent_id: ann.agentId, amount: 2 },
      { step_id: "s1", agent_id: dear.agentId, amount: 9 },
    ]);
  });

  test("B11, B6: a plan allocates nothing when a step names an agent that the planner has blocked", async () => {
    const trust = `/api/v1/agents/${boss.agentId}/trust/${ann.agentId}`;
    expect(await t.as(boss, "PUT", trust, { trust_level: "blocked" })).toMatchObject({
      status: 200,
    });
    const step = { agent_id: ann.agentId, capability: "draw" };
    expect(await allocationOf([step], { max_budget: 10 })).toEqual([]);
  });

  test("B11: a plan allocates nothing when a step names a revoked agent, which cannot get tasks either", async () => {
    const step = { agent_id: ann.agentId };
    expect(await allocationOf([step])).toHaveLength(1);
    const revoked = await t.as(ann, "POST", `/api/v1/agents/${ann.agentId}/revoke`, {});
    expect(revoked.status).toBe(200);
    const write = { capability: "write" };
    expect(await allocationOf([step, write], { plan_id: "q" })).toEqual([]);
    expect(await allocationOf([write], { plan_id: "r" })).toHaveLength(1);
  });

  test("B11, D1: a plan allocates no agent whose id two relays claim under two keys", async () => {
    const network = await startNetwork(["home", "one", "two"], []);
    const [home, one, two] = network.sites as [TestSite, TestSite, TestSite];
    // These relays begin the peering, so the operator of `home` has admitted neither.
    await addPeer(one, home);
    await addPeer(two, home);
    const [planner, worker] = [await home.createAgent(), await one.createWorker(3)];
    await home.as(planner, "GET", "/api/v1/agents/discover?capability=summarise");
    const steps = [{ step_id: "s0", ordinal: 0, agent_id: worker.agentId }];
    const plan = { plan_id: "p", goal_id: "g", title: "a plan", steps };
    const plans = `/api/v1/agents/${planner.agentId}/plans`;
    expect((await home.as(planner, "POST", plans, plan)).body["allocation"]).toHaveLength(1);
    const namesake = two.createUnknownAgent();
    await two.asOperator("POST", "/api/v1/agents/bootstrap", {
      agent_id: worker.agentId,
      public_key: namesake.publicKey,
    });
    const listing = { capabilities: ["summarise"], pricing: [] };
    await two.asOperator("POST", `/api/v1/agents/${worker.agentId}/listing`, listing);
    await home.clock.advance(6_000);
    await home.as(planner, "GET", "/api/v1/agents/discover?capability=summarise");
    const task = `/agent/${worker.agentId}/task`;
    expect(await home.as(planner, "POST", task, { prompt: "work" })).toMatchObject({
      body: { code: "task.id_conflict" },
    });
    expect((await home.as(planner, "POST", plans, plan)).body["allocation"]).toEqual([]);
    await network.close();
  });

  test("B11, B1: a plan allocates an agent of another relay at its price there, and only for what it lists", async () => {
    const network = await startNetwork(["alpha", "beta"], [[0, 1]]);
    const [a, b] = network.sites as [TestSite, TestSite];
    const [planner, worker] = [await a.createAgent(), await b.createWorker(3)];
    await a.as(planner, "GET", "/api/v1/agents/discover?capability=summarise");
    const plans = `/api/v1/agents/${planner.agentId}/plans`;
    const allocated = async (step: object, max_budget: number) => {
      const steps = [{ step_id: "s0", ordinal: 0, agent_id: worker.agentId, ...step }];
      const plan = { plan_id: "p", goal_id: "g", title: "a plan", steps, max_budget };
      return (await a.as(planner, "POST", plans, plan)).body["allocation"];
    };
    const expected = [{ step_id: "s0", agent_id: worker.agentId, amount: 3 }];
    expect(await allocated({ capability: "summarise" }, 3)).toEqual(expected);
    expect(await allocated({}, 3)).toEqual(expected);
    expect(await allocated({ capability: "summarise" }, 2.999999)).toEqual([]);
    expect(await allocated({ capability: "a made-up word" }, 3)).toEqual([]);
    await network.close();
  });

  test("B11: a plan may need at most 10 different searches; the eleventh is refused and nothing is stored", async () => {
    const searching = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ capability: "write", max_budget: at + 1 }));
    const refused = await put(searching(11));
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "steps" }] } });
    expect(await t.as(boss, "GET", path("/p"))).toMatchObject({ status: 404 });
    expect(await allocationOf(searching(10))).toHaveLength(10);
  });

  test("B11: a plan keeps the budgets, agents and capabilities as they were recorded", async () => {
    const steps = [{ agent_id: ann.agentId, capability: "draw", max_budget: 3 }];
    await put(steps, { max_budget: 10 });
    const { body } = await t.as(boss, "GET", path("/p"));
    expect(body).toMatchObject({ max_budget: 10, steps });
    expect(body).not.toHaveProperty("allocation");
  });
});

test("B11: a plan that names no agent, capability or budget is answered as before", async () => {
  const { status, body } = await put([{}]);
  expect(status).toBe(201);
  expect(body).not.toHaveProperty("allocation");
  expect(body).not.toHaveProperty("max_budget");
});

test("B11: a plan with a bad budget is refused, and the answer names the field", async () => {
  for (const change of [{ max_budget: -1 }, { max_budget: 0.0000001 }]) {
    expect(await put([{}], change)).toMatchObject({
      status: 400,
      body: { issues: [{ path: "max_budget" }] },
    });
    expect(await put([change])).toMatchObject({
      status: 400,
      body: { issues: [{ path: "steps.0.max_budget" }] },
    });
  }
});
