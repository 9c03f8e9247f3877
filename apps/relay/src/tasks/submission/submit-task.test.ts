import { scopes, type Task } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createReceipt, createTestAgent, createToken, type TestAgent } from "@agent/testkit";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  putListing,
  createSeller,
  submitTask,
  getTaskAt,
} from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

describe("submissions", () => {
  test("a submission returns 201 with the task as pending, its expiry and its cost", async () => {
    const boss = await t.createAgent();
    const answer = await submitTask(t, boss, await createSeller(t, 0));
    expect(answer).toMatchObject({
      status: 201,
      body: {
        status: "pending",
        routing_choice: null,
        expires_at: t.clock.now() + 900_000,
        estimated_cost: 0,
        amount_locked: 0,
      },
    });
    expect(answer.body["task_id"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([60_000, 7_200_000, 604_800_000])(
    "B12: a submission that requests a lifetime of %i ms gets and shows it",
    async (ttl_ms) => {
      const [boss, worker] = [await t.createAgent(), await createSeller(t, 0)];
      const answer = await submitTask(t, boss, worker, { ttl_ms });
      const expires_at = t.clock.now() + ttl_ms;
      expect(answer).toMatchObject({ status: 201, body: { expires_at } });
      const path = `/agent/${worker.agentId}/task/${String(answer.body["task_id"])}`;
      expect(await getTaskAt(t, path)).toMatchObject({ expires_at });
    },
  );

  test("B12: a submission that requests a longer lifetime than the operator allows is refused", async () => {
    await t.close();
    t = await startTestRelay({
      AGENT_TASK_TTL_MS: "60000",
      AGENT_TASK_TTL_MAX_MS: "120000",
    });
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const before = await getAgentStates(t, [boss]);
    expect(await submitTask(t, boss, worker, { ttl_ms: 120_001 })).toMatchObject({
      status: 400,
      body: {
        code: "request.invalid",
        issues: [{ path: "ttl_ms", message: "must be at most 120000" }],
      },
    });
    expect(await getAgentStates(t, [boss])).toEqual(before);
    expect((await submitTask(t, boss, worker, { ttl_ms: 120_000 })).status).toBe(201);
    expect((await submitTask(t, boss, worker)).body).toMatchObject({
      expires_at: t.clock.now() + 60_000,
    });
  });

  test("a submission keeps the members that the executor needs, and its prompt byte for byte", async () => {
    const [boss, worker] = [await t.createAgent(), await createSeller(t, 0)];
    const prompt = ' \n\u{1f600} e\u0301 and \u00e9 \u0000 {"a": 1}\t ';
    const wanted = { prompt, wall_clock_ms: 1_500.5, step_id: "step-1" };
    const { path } = await submitAcceptedTask(t, boss, worker, wanted);
    expect(await getTaskAt(t, path)).toMatchObject({
      ...wanted,
      agent_id: worker.agentId,
      submitted_by: boss.agentId,
      assigned_to: null,
      required_capabilities: [],
    });
  });

  test("a submission ignores members that it does not know", async () => {
    const boss = await t.createAgent();
    const answer = await submitTask(t, boss, boss, {
      colour: "red",
      ["__proto__"]: { status: "done" },
    });
    expect(answer).toMatchObject({ status: 201, body: { status: "pending" } });
  });

  test("a submission for an unknown agent is stored and waits for it", async () => {
    const [boss, unknown] = [
      await t.createAgent(),
      createTestAgent({ ...t.clock, randomBytes: bytes }),
    ];
    const { path } = await submitAcceptedTask(t, boss, unknown);
    expect(await getTaskAt(t, path)).toMatchObject({ status: "pending" });
  });

  test.each(["__proto__", "constructor", "toString", "a b", "%F0%9F%98%80"])(
    "H12: a submission is refused for the target %s, which is no UUID",
    async (agentId) => {
      const boss = await t.createAgent();
      expect(await submitTask(t, boss, { agentId })).toMatchObject({
        status: 400,
        body: { code: "request.invalid", issues: [{ path: "agentId" }] },
      });
    },
  );
});

describe("malformed submissions", () => {
  const refused: [what: string, body: Record<string, unknown>, path: string][] = [
    ["no prompt", { prompt: undefined }, "prompt"],
    ["an empty prompt", { prompt: "" }, "prompt"],
    ["a prompt that is no text", { prompt: ["work"] }, "prompt"],
    ["a prompt above 256 KiB", { prompt: "\u00e9".repeat(131_073) }, "prompt"],
    ["a prompt with a lone surrogate", { prompt: "\ud800" }, "prompt"],
    ["a submitter that is no UUID", { submitted_by: "me" }, "submitted_by"],
    ["capabilities as text", { required_capabilities: "a,b" }, "required_capabilities"],
    ["capabilities as an object", { required_capabilities: { 0: "a" } }, "required_capabilities"],
    ["an empty capability", { required_capabilities: ["a", ""] }, "required_capabilities.1"],
    ["101 capabilities", { required_capabilities: manyTexts(101) }, "required_capabilities"],
    ["no time at all", { wall_clock_ms: 0 }, "wall_clock_ms"],
    ["a time as text", { wall_clock_ms: "1000" }, "wall_clock_ms"],
    ["B12: a life below a minute", { ttl_ms: 59_999 }, "ttl_ms"],
    ["B12: a life above the longest one", { ttl_ms: 604_800_001 }, "ttl_ms"],
    ["B12: a life that is no whole number", { ttl_ms: 60_000.5 }, "ttl_ms"],
    ["B12: a life as text", { ttl_ms: "60000" }, "ttl_ms"],
    ["an empty step", { step_id: "" }, "step_id"],
    ["a drive above 1", { exploration_drive: 1.01 }, "exploration_drive"],
    ["a drive below 0", { exploration_drive: -0.01 }, "exploration_drive"],
    ["exclusions as text", { exclude_agents: "a" }, "exclude_agents"],
    ["1,001 exclusions", { exclude_agents: manyTexts(1_001) }, "exclude_agents"],
    ["a negative budget", { max_budget: -1 }, "max_budget"],
    ["a budget as text", { max_budget: "5" }, "max_budget"],
    ["a budget of seven decimals", { max_budget: 0.0000001 }, "max_budget"],
    ["a budget above 1e9", { max_budget: 1_000_000_000.000001 }, "max_budget"],
  ];
  test.each(refused)(
    "the answer to a malformed submission names the field of %s",
    async (_, body, path) => {
      const boss = await t.createAgent();
      const answer = await submitTask(t, boss, boss, body);
      expect(answer).toMatchObject({
        status: 400,
        body: { code: "request.invalid", issues: [{ path }] },
      });
      expect(answer.body["error"]).toContain(path);
    },
  );

  test.each([
    ["no JSON", "{prompt", "request.malformed_json"],
    ["an array", "[]", "request.invalid"],
    ["an infinite budget", '{"prompt": "work", "max_budget": 1e999}', "request.invalid"],
    [
      "65 levels",
      `{"prompt": "work", "a": ${"[".repeat(65)}${"]".repeat(65)}}`,
      "request.too_deep",
    ],
  ])("a submission with a body of %s is refused", async (_, raw, code) => {
    const boss = await t.createAgent();
    const token = await t.token(boss);
    const answer = await t.request("POST", `/agent/${boss.agentId}/task`, { token, raw });
    expect(answer).toMatchObject({ status: 400, body: { code } });
  });

  test.each([
    ["above 1 MiB is refused with 413", JSON.stringify({ prompt: "x".repeat(1_048_576) }), {}, 413],
    [
      "that is not JSON is refused with 415",
      '{"prompt": "work"}',
      { "content-type": "text/plain" },
      415,
    ],
    [
      "that is compressed is refused with 415",
      '{"prompt": "work"}',
      { "content-encoding": "gzip" },
      415,
    ],
  ])("a body %s", async (_, raw, headers, status) => {
    const token = await t.token(await t.createAgent());
    expect(await t.request("POST", "/agent/a/task", { token, raw, headers })).toMatchObject({
      status,
    });
  });

  test("a malformed submission leaves nothing behind", async () => {
    const boss = await createBuyer(t, 5);
    const before = await getAgentStates(t, [boss]);
    await submitTask(t, boss, await createSeller(t, 1), { prompt: "" });
    expect(await getAgentStates(t, [boss])).toEqual(before);
    expect(await submissionsOf(boss)).toEqual([]);
  });
});

describe("the submitter", () => {
  test("the submitter must authenticate, and gets 401 without a token and 403 with a junk token", async () => {
    const path = `/agent/${(await t.createAgent()).agentId}/task`;
    const body = { prompt: "work" };
    expect(await t.request("POST", path, { body })).toMatchObject({
      status: 401,
      body: { code: "auth.missing", error: "Missing authorization" },
    });
    expect(await t.request("POST", path, { body, token: "junk" })).toMatchObject({
      status: 403,
      body: { code: "auth.unknown_token", error: "Invalid token" },
    });
  });

  test.each<[what: string, status: number, code: string, token: () => Promise<string>]>([
    ["an expired token", 401, "auth.expired_token", expiredToken],
    ["a token of another key", 401, "auth.verification_failed", async () => forged("key")],
    ["a token for another relay", 401, "auth.verification_failed", async () => forged("audience")],
    ["a token of an unknown device", 403, "auth.device_not_authorized", unknownToken],
    ["a token without the scope", 403, "auth.scope_missing", narrowToken],
  ])("the submitter is refused with %s: %i %s", async (_, status, code, token) => {
    const answer = await t.request("POST", `/agent/${(await t.createAgent()).agentId}/task`, {
      token: await token(),
      body: { prompt: "work" },
    });
    expect(answer).toMatchObject({ status, body: { code } });
  });

  test("AC6 the caller pays, even if submitted_by names another agent", async () => {
    const [boss, victim] = [await createBuyer(t, 10), await createBuyer(t, 10)];
    const worker = await createSeller(t, 2);
    const { path } = await submitAcceptedTask(t, boss, worker, { submitted_by: victim.agentId });
    expect(await getTaskAt(t, path)).toMatchObject({ submitted_by: boss.agentId });
    expect([await t.getBalance(boss), await t.getBalance(victim)]).toEqual([7.6, 10]);
  });

  test("the submitter is the one that the request names under the master token", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const answer = await t.asOperator("POST", `/agent/${worker.agentId}/task`, {
      prompt: "work",
      submitted_by: boss.agentId,
    });
    expect(answer.status).toBe(201);
    expect(await t.getBalance(boss)).toBe(7.6);
  });

  test("the submitter may be missing under the master token for a free task, but a priced one gets 402", async () => {
    const submitAs = async (price: number) =>
      t.asOperator("POST", `/agent/${(await createSeller(t, price)).agentId}/task`, {
        prompt: "work",
      });
    const free = await submitAs(0);
    expect(free.status).toBe(201);
    expect(await submitAs(0.000001)).toMatchObject({
      status: 402,
      body: { code: "budget.no_payer" },
    });
  });
});

describe("the price", () => {
  const prices = { read: 1, write: 2, think: 0 };

  test.each<[required: string[] | undefined, cost: number]>([
    [undefined, 2],
    [[], 2],
    [["read"], 1],
    [["write"], 2],
    [["think"], 0],
    [["read", "write"], 3],
    [["read", "read"], 1],
    [["read", "think"], 1],
  ])(
    "the price for the capabilities %j of an agent with several is %f",
    async (required_capabilities, estimated_cost) => {
      const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, prices)];
      expect(await submitTask(t, boss, worker, { required_capabilities })).toMatchObject({
        status: 201,
        body: { estimated_cost, amount_locked: Number((estimated_cost * 1.2).toFixed(6)) },
      });
    },
  );

  test("the price is that of the only listed capability, and 0 without a listing or without a price in it", async () => {
    const boss = await createBuyer(t, 10);
    const targets = [await createSeller(t, 0.5), await createSeller(t, {}), await t.createAgent()];
    const costs = [];
    for (const target of targets) {
      costs.push((await submitTask(t, boss, target)).body["estimated_cost"]);
    }
    expect(costs).toEqual([0.5, 0, 0]);
  });

  test("the price is 0 for a listed capability without a price", async () => {
    const [boss, worker] = [await t.createAgent(), await t.createWorker(2, "summarise")];
    await t.as(worker, "POST", `/api/v1/agents/${worker.agentId}/listing`, {
      capabilities: ["summarise", "translate"],
      pricing: [{ capability: "summarise", unit_cost: 2 }],
    });
    const answer = await submitTask(t, boss, worker, { required_capabilities: ["translate"] });
    expect(answer).toMatchObject({ status: 201, body: { estimated_cost: 0 } });
  });

  test.each<[balance: number, answer: object]>([
    [10, { status: 201, body: { amount_locked: 2.4 } }],
    [2.4, { status: 201, body: { amount_locked: 2.4 } }],
    [2.399999, { status: 201, body: { amount_locked: 2.399999 } }],
    [2, { status: 201, body: { amount_locked: 2 } }],
    [1.999999, { status: 402, body: { code: "budget.insufficient" } }],
  ])(
    "a price of 2 with %f on the account is held with as much of its buffer as the account covers",
    async (...row) => {
      const [balance, expected] = row;
      const [boss, worker] = [await createBuyer(t, balance), await createSeller(t, 2)];
      expect(await submitTask(t, boss, worker)).toMatchObject(expected);
    },
  );

  test.each<[max_budget: number, answer: object]>([
    [3, { status: 201, body: { estimated_cost: 2, amount_locked: 2.4 } }],
    [2.1, { status: 201, body: { estimated_cost: 2, amount_locked: 2.1 } }],
    [2, { status: 201, body: { estimated_cost: 2, amount_locked: 2 } }],
    [1.999999, { status: 402, body: { code: "budget.max_exceeded" } }],
    [0, { status: 402, body: { code: "budget.max_exceeded" } }],
  ])(
    "A12: a max_budget of %f is a hard cap on the price of 2 and its hold",
    async (max_budget, expected) => {
      const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
      expect(await submitTask(t, boss, worker, { max_budget })).toMatchObject(expected);
      await expectConsistentBooks(t);
    },
  );

  test("A12: a max_budget that covers price and buffer does not change the hold", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const locked = async (body: object) =>
      (await submitTask(t, boss, worker, { ...body })).body["amount_locked"];
    expect([await locked({}), await locked({ max_budget: 2.4 })]).toEqual([2.4, 2.4]);
  });

  test("A12: a price that is raised after the listing was read is not charged above max_budget", async () => {
    const [boss, worker] = [await createBuyer(t, 1_000), await createSeller(t, 0.01)];
    await putListing(t, worker, 500);
    const before = await getAgentStates(t, [boss]);
    expect(await submitTask(t, boss, worker, { max_budget: 0.01 })).toMatchObject({
      status: 402,
      body: { code: "budget.max_exceeded" },
    });
    expect(await getAgentStates(t, [boss])).toEqual(before);
  });

  test("A12: AGENT_REQUIRE_MAX_BUDGET refuses a priced submission without a max_budget", async () => {
    await t.close();
    t = await startTestRelay({ AGENT_REQUIRE_MAX_BUDGET: "true" });
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const before = await getAgentStates(t, [boss]);
    const refused = { status: 400, body: { code: "budget.max_required" } };
    expect(await submitTask(t, boss, worker)).toMatchObject(refused);
    expect(await submitTask(t, await t.createAgent(), worker)).toMatchObject(refused);
    expect(await getAgentStates(t, [boss])).toEqual(before);
    expect((await submitTask(t, boss, worker, { max_budget: 2 })).status).toBe(201);
    expect((await submitTask(t, boss, await createSeller(t, 0))).status).toBe(201);
  });

  test("the price may be 0 under max_budget 0", async () => {
    const [boss, worker] = [await t.createAgent(), await createSeller(t, 0)];
    expect((await submitTask(t, boss, worker, { max_budget: 0 })).status).toBe(201);
  });

  test("a price above the balance is refused with 402 and advice to deposit, and leaves nothing behind", async () => {
    const [boss, worker] = [await createBuyer(t, 1), await createSeller(t, 2)];
    const before = await getAgentStates(t, [boss, worker]);
    const answer = await submitTask(t, boss, worker);
    expect(answer.status).toBe(402);
    expect(answer.body["error"]).toMatch(/^Insufficient funds.*deposit/);
    expect(await getAgentStates(t, [boss, worker])).toEqual(before);
    expect(await submissionsOf(boss)).toEqual([]);
    await t.deposit(boss, 1);
    expect((await submitTask(t, boss, worker)).status).toBe(201);
  });

  test.each([
    ["rises", 9],
    ["falls", 0.5],
    ["is dropped", 0],
  ])(
    "MN7 the price is fixed at submission, so that 2 is paid even if it %s before the receipt",
    async (_, later) => {
      const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
      const task = await submitAcceptedTask(t, boss, worker);
      await putListing(t, worker, later);
      await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
      expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([8, 1.9]);
    },
  );
});

describe("a task with required capabilities", () => {
  test("a task with required capabilities is assigned to the chosen agent, at that agent's price", async () => {
    const [boss, target] = [await createBuyer(t, 10), await t.createAgent()];
    const worker = await createSeller(t, { count: 2 });
    const answer = await submitTask(t, boss, target, { required_capabilities: ["count"] });
    expect(answer).toMatchObject({
      status: 201,
      body: { estimated_cost: 2, routing_choice: { selected_agent: worker.agentId } },
    });
    const path = `/agent/${target.agentId}/task/${String(answer.body["task_id"])}`;
    const task = await getTaskAt(t, path);
    expect(task).toMatchObject({ agent_id: target.agentId, assigned_to: worker.agentId });
    const delivered = await t.as(worker, "POST", `${path}/result`, createReceipt(worker, task));
    expect(delivered.status).toBe(200);
    expect(await t.getBalance(worker)).toBe(1.9);
  });

  test("a task is never assigned to its submitter or to an excluded agent by ranking", async () => {
    const boss = await createSeller(t, { count: 0 });
    const others = [await createSeller(t, { count: 0 }), await createSeller(t, { count: 0 })];
    const [first, second] = others.map(({ agentId }) => agentId);
    const chosen = async (exclude_agents: (string | undefined)[]) => {
      const wanted = { required_capabilities: ["count"], exclude_agents };
      const { body } = await submitTask(t, boss, t.createUnknownAgent(), wanted);
      return body["routing_choice"] as { selected_agent: string } | null;
    };
    expect((await chosen([first]))?.selected_agent).toBe(second);
    expect((await chosen([second]))?.selected_agent).toBe(first);
    expect(await chosen([first, second])).toBeNull();
  });

  test("a task is never assigned above max_budget by ranking", async () => {
    const boss = await createBuyer(t, 100);
    await createSeller(t, { count: 5 });
    const cheap = await createSeller(t, { count: 1 });
    const wanted = { required_capabilities: ["count"], max_budget: 2 };
    const { body } = await submitTask(t, boss, t.createUnknownAgent(), wanted);
    expect(body).toMatchObject({
      estimated_cost: 1,
      routing_choice: { selected_agent: cheap.agentId },
    });
  });

  test("a task waits for its target when no agent has the required capabilities and the target is free", async () => {
    const [boss, target] = [await createBuyer(t, 10), await createSeller(t, { read: 0 })];
    expect(await submitTask(t, boss, target, { required_capabilities: ["fly"] })).toMatchObject({
      status: 201,
      body: { routing_choice: null, estimated_cost: 0 },
    });
  });
});

function manyTexts(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `text ${i}`);
}

/** Returns different bytes than the relay's own source of randomness, so that ids do not collide. */
function bytes(length: number): Uint8Array {
  return new Uint8Array(length).fill(7);
}

async function submissionsOf(agent: TestAgent): Promise<Task[]> {
  const path = `/agent/${agent.agentId}/tasks?submitted_by=me`;
  return (await t.as(agent, "GET", path)).body["tasks"] as Task[];
}

async function expiredToken(): Promise<string> {
  const token = await t.token(await t.createAgent());
  await t.clock.advance(300_001);
  return token;
}

async function unknownToken(): Promise<string> {
  return t.token(createTestAgent({ ...t.clock, randomBytes: bytes }));
}

async function narrowToken(): Promise<string> {
  return t.token(
    await t.createAgent(),
    scopes.filter((scope) => scope !== "task:submit"),
  );
}

async function forged(what: "key" | "audience"): Promise<string> {
  const [agent, other] = [await t.createAgent(), await t.createAgent()];
  if (what === "key") return t.token({ ...agent, secretKey: other.secretKey });
  return createToken(agent, other.did, { ...t.clock, randomBytes: bytes });
}
