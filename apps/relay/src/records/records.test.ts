import { hashTimeline, type Ledger } from "@agent/ledger";
import { hashReceipt } from "@agent/receipts";
import type { TestAgent } from "@agent/testkit";
import type { AgentEvent, AuditEntry, Goal, Message, Plan } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger, ledgerPath, manifestPath, storeLedger } from "../../test/agents/ledgers.ts";
import { createBuyer, submitAcceptedTask, createSeller } from "../../test/market.ts";
import { createPairedDevice } from "../../test/agents/pairing.ts";
import { createRotation } from "../../test/agents/rotation.ts";
import {
  createReceipt,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../test/test-relay.ts";

let t: TestRelay;
let agent: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  agent = await t.createAgent();
});
afterEach(() => t.close());

const pathOf = (rest: string, of = agent) => `/api/v1/agents/${of.agentId}/${rest}`;
const post = (rest: string, body: object, by = agent) => t.as(by, "POST", pathOf(rest, by), body);
const get = (rest: string, by = agent) => t.as(by, "GET", pathOf(rest, by));

/** Reads all rows of a list, two at a time, each once. */
async function pages<Row>(rest: string, plural: string): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const from: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { body }: Reply = await get(`${rest}?limit=2${from}`);
    rows.push(...(body[plural] as Row[]));
    cursor = body["next_cursor"] as string | null;
  }
  return rows;
}

const step = (step_id: string, status: string, times: Record<string, number> = {}) => ({
  step_id,
  ordinal: Number(step_id),
  description: `does ${step_id}`,
  status,
  ...times,
});

test.each([".", ".."])(
  "an id that would be a part of a URL must not be %j, because URLs leave it out",
  async (name) => {
    const message = 'must be neither "." nor "..", which URLs leave out';
    const event = { type: "note", timestamp: t.clock.now() };
    const refused: [rest: string, body: object, path: string][] = [
      ["plans", { goal_id: name, title: "a plan" }, "goal_id"],
      ["plans", { plan_id: name, goal_id: "g", title: "a plan" }, "plan_id"],
      ["events", { events: [{ ...event, goal_id: name }] }, "events.0.goal_id"],
      ["events", { events: [{ ...event, event_id: name }] }, "events.0.event_id"],
      ["conversations", { conversation_id: name }, "conversation_id"],
    ];
    for (const [rest, body, path] of refused) {
      expect(await post(rest, body)).toMatchObject({
        status: 400,
        body: { code: "request.invalid", issues: [{ path, message }] },
      });
    }
    expect(await storeLedger(t, agent, createLedger(agent, name))).toMatchObject({
      status: 400,
      body: { code: "ledger.malformed", message: expect.stringContaining("goal_id") as unknown },
    });
    for (const near of ["...", "a.", `${name}a`]) {
      expect(await post("plans", { goal_id: near, title: "a plan" })).toMatchObject({
        status: 201,
      });
      expect((await t.as(agent, "GET", manifestPath(agent, near))).status).toBe(200);
    }
  },
);

describe("plans", () => {
  const plan = { plan_id: "p", goal_id: "g", title: "a plan" };

  test("a plan is stored under its id in its last version, with the time of the first one", async () => {
    const first = await post("plans", plan);
    const created_at = t.clock.now();
    expect(first).toMatchObject({ status: 201, body: { ...plan, status: "active", steps: [] } });
    await t.clock.advance(5);
    const changed = { ...plan, status: "completed", steps: [step("0", "completed")] };
    const second = await post("plans", changed);
    expect(second).toMatchObject({
      status: 200,
      body: { ...changed, created_at, updated_at: created_at + 5 },
    });
    expect((await get("plans/p")).body).toEqual(second.body);
    expect((await get("plans")).body["plans"]).toHaveLength(1);
  });

  test("a plan gets an id when it has none, and does not collide with another agent's id", async () => {
    const { plan_id: _, ...unnamed } = plan;
    const { body } = await post("plans", unnamed);
    expect(await get(`plans/${String(body["plan_id"])}`)).toMatchObject({ status: 200 });
    const other = await t.createAgent();
    expect(await post("plans", plan, other)).toMatchObject({ status: 201 });
    expect(await get("plans/p")).toMatchObject({ status: 404 });
  });

  test("a plan is listed newest first, by goal and page", async () => {
    for (const plan_id of ["1", "2", "3"]) {
      await t.clock.advance(1);
      await post("plans", { ...plan, plan_id, goal_id: plan_id === "2" ? "other" : "g" });
    }
    const ids = (rows: Plan[]) => rows.map(({ plan_id }) => plan_id);
    expect(ids(await pages<Plan>("plans", "plans"))).toEqual(["3", "2", "1"]);
    const { body } = await get("plans?goal_id=g");
    expect(ids(body["plans"] as Plan[])).toEqual(["3", "1"]);
  });

  test.each<[string, object]>([
    ["no goal", { goal_id: undefined }],
    ["a step twice", { steps: [step("1", "pending"), step("1", "pending")] }],
    ["an unknown state", { status: "done" }],
    ["a step in an unknown state", { steps: [step("1", "done")] }],
    ["too many steps", { steps: Array.from({ length: 501 }, (_, i) => step(`${i}`, "pending")) }],
  ])("a plan with %s is refused", async (_, change) => {
    expect(await post("plans", { ...plan, ...change })).toMatchObject({ status: 400 });
  });
});

describe("events", () => {
  const event = (event_id: string, timestamp = 1, more: object = {}) => ({
    event_id,
    type: "noted",
    timestamp,
    ...more,
  });
  const clocks = ({ body }: Reply) => (body["events"] as AgentEvent[]).map(({ clock }) => clock);

  test("an event is appended with the next number of its agent's clock, alone or with others", async () => {
    expect(clocks(await post("events", event("a", 9)))).toEqual([1]);
    expect(clocks(await post("events", { events: [event("b", 3), event("c")] }))).toEqual([2, 3]);
    expect(clocks(await post("events", event("a"), await t.createAgent()))).toEqual([1]);
    const log = await pages<AgentEvent>("events", "events");
    expect(log.map(({ event_id }) => event_id)).toEqual(["a", "b", "c"]);
    expect(log[0]).toEqual({ ...event("a", 9), goal_id: null, payload: {}, clock: 1 });
  });

  test("an event is not appended twice, and never changes", async () => {
    await post("events", event("a"));
    const again = await post("events", { events: [event("a"), event("b")] });
    expect(clocks(again)).toEqual([1, 2]);
    for (const change of [{ timestamp: 2 }, { payload: { x: 1 } }, { goal_id: "g" }]) {
      const other = await post("events", { events: [event("c"), event("a", 1, change)] });
      expect(other).toMatchObject({ status: 409, body: { code: "event.id_taken" } });
    }
    expect(await pages("events", "events")).toHaveLength(2);
  });

  test("an event keeps its position when many are appended at once", async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `e${i}`);
    await Promise.all(ids.map((id) => post("events", event(id))));
    const log = await pages<AgentEvent>("events", "events");
    expect(log.map(({ clock }) => clock)).toEqual(ids.map((_, i) => i + 1));
  });

  test("an event is found by its id and by its goal", async () => {
    await post("events", { events: [event("a", 1, { goal_id: "g" }), event("b")] });
    expect((await get("events/b")).body).toMatchObject({ event_id: "b", clock: 2 });
    expect(clocks(await get("events?goal_id=g"))).toEqual([1]);
  });

  test.each<[string, object]>([
    ["no time", { timestamp: undefined }],
    ["a payload that is no object", { payload: [] }],
    ["a payload that is too large", { payload: { x: "x".repeat(17_000) } }],
    ["a payload that no ledger could hash", { payload: { x: "\ud800" } }],
  ])("an event with %s is refused", async (_, change) => {
    expect(await post("events", event("a", 1, change))).toMatchObject({ status: 400 });
  });
});

describe("conversations", () => {
  const messages = "conversations/c/messages";
  beforeEach(() => post("conversations", { conversation_id: "c", title: "a talk", started_at: 1 }));
  const message = (message_id: string, created_at: number) => ({
    message_id,
    role: "user",
    content: `says ${message_id}`,
    created_at,
  });

  test("a conversation has its messages in the order in which they were added", async () => {
    await post(messages, { messages: [message("b", 9), message("a", 2)] });
    await post(messages, message("c", 3));
    const all = await pages<Message>(messages, "messages");
    expect(all).toEqual([message("b", 9), message("a", 2), message("c", 3)]);
    expect((await get("conversations/c")).body).toMatchObject({
      started_at: 1,
      last_active_at: 9,
    });
  });

  test("a conversation does not accept a message twice, and does not replace one", async () => {
    await post(messages, message("a", 1));
    expect(await post(messages, message("a", 1))).toMatchObject({ status: 201 });
    const both = { messages: [message("b", 1), { ...message("a", 1), content: "other" }] };
    expect(await post(messages, both)).toMatchObject({ status: 409 });
    expect(await pages(messages, "messages")).toHaveLength(1);
  });

  test("a conversation can be given a new title under its id, and keeps the members that are not named", async () => {
    const again = await post("conversations", { conversation_id: "c", title: "another" });
    expect(again).toMatchObject({ status: 200, body: { title: "another", started_at: 1 } });
  });

  test("a conversation is listed newest first", async () => {
    for (const conversation_id of ["d", "e"]) {
      await t.clock.advance(1);
      await post("conversations", { conversation_id });
    }
    const all = await pages<{ conversation_id: string }>("conversations", "conversations");
    expect(all.map(({ conversation_id }) => conversation_id)).toEqual(["e", "d", "c"]);
  });
});

describe("the records of a goal", () => {
  const read = async (path: typeof ledgerPath) =>
    (await t.asOperator("GET", path(agent, "g"))).body as unknown as Ledger;

  test.each([
    ["ledger", ledgerPath],
    ["manifest", manifestPath],
  ])("the records of a goal form its %s: plan, steps and events", async (_, path) => {
    const now = t.clock.now();
    await post("plans", {
      plan_id: "p",
      goal_id: "g",
      title: "a plan",
      status: "completed",
      steps: [
        step("0", "completed", { started_at: now + 1, completed_at: now + 4 }),
        step("1", "skipped"),
      ],
    });
    const call = { goal_id: "g", timestamp: now + 2 };
    const invoked = { tool: "add", args_hash: "ab".repeat(32), call_id: "1", step_id: "0" };
    await post("events", {
      events: [
        { ...call, type: "tool_invoked", payload: { ...invoked, args: "secret" } },
        { ...call, type: "thought", payload: {} },
      ],
    });
    const ledger = await read(path);
    expect(ledger.content_hash).toBe(hashTimeline(ledger.timeline));
    expect(ledger).toMatchObject({ agent_id: agent.agentId, goal_id: "g", plan_id: "p" });
    expect(ledger).not.toHaveProperty("signature");
    expect(ledger.timeline.map(({ type }) => type)).toEqual([
      "goal_started",
      "plan_created",
      "step_started",
      "tool_invoked",
      "step_completed",
      "plan_completed",
      "goal_completed",
    ]);
    expect(ledger.steps).toMatchObject([
      { step_id: "0", status: "completed", tools_used: ["add"], tool_calls: 1 },
      { step_id: "1", status: "skipped" },
    ]);
    expect(JSON.stringify(ledger)).not.toContain("secret");
  });

  test("the records of a goal link the tasks of its steps, with their receipts", async () => {
    agent = await createBuyer(t, 10);
    await post("plans", { goal_id: "g", title: "a plan", steps: [step("0", "delegated")] });
    const worker = await createSeller(t, 2);
    const task = await submitAcceptedTask(t, agent, worker, { step_id: "0" });
    const receipt = createReceipt(worker, task);
    await t.as(worker, "POST", `${task.path}/result`, receipt);
    const ledger = await read(manifestPath);
    const delegated = ledger.timeline.filter(({ type }) => type === "step_delegated");
    expect(delegated).toMatchObject([{ payload: { task_id: task.task_id } }]);
    expect(ledger.steps).toMatchObject([{ delegation: { receipt_hash: hashReceipt(receipt) } }]);
    expect(ledger.delegation_receipts).toMatchObject([{ task_id: task.task_id }]);
  });

  test("the records of a goal reveal nothing about another agent's goal of the same name", async () => {
    const other = await t.createAgent();
    await post("plans", { plan_id: "p", goal_id: "g", title: "a plan" }, other);
    await post("events", { type: "plan_completed", timestamp: 1, goal_id: "g" }, other);
    expect(await t.asOperator("GET", ledgerPath(agent, "g"))).toMatchObject({ status: 404 });
  });
});

test("the list of goals has each goal of ledgers, plans and tasks once, ordered by id", async () => {
  const boss = await createBuyer(t, 10);
  const task = await submitAcceptedTask(t, boss, agent);
  await storeLedger(t, agent, createLedger(agent, task.task_id));
  await storeLedger(t, agent, createLedger(agent, "b-signed"));
  await post("plans", { goal_id: "c-planned", title: "a plan", status: "paused" });
  await post("plans", { goal_id: "b-signed", title: "a plan", status: "failed" });
  const goals = await pages<Goal>("goals", "goals");
  expect(goals).toEqual([
    { goal_id: task.task_id, status: "active", signed: true, plans: 0, task_status: "pending" },
    { goal_id: "b-signed", status: "active", signed: true, plans: 1, task_status: null },
    { goal_id: "c-planned", status: "paused", signed: false, plans: 1, task_status: null },
  ]);
});

test("the state of an agent shows the relay's current records of it", async () => {
  const boss = await createBuyer(t, 10);
  await submitAcceptedTask(t, boss, agent);
  await storeLedger(t, agent, createLedger(agent, "g"));
  await post("events", { type: "noted", timestamp: 1 });
  await createPairedDevice(t, agent);
  expect((await get("state")).body).toEqual({
    agent_id: agent.agentId,
    registered: false,
    revoked: false,
    online: false,
    freshness: "awake",
    last_seen_at: t.clock.now(),
    open_tasks: 1,
    submitted_open_tasks: 0,
    devices: 2,
    ledgers: 1,
    events: 1,
  });
  expect((await get("state", boss)).body).toMatchObject({ submitted_open_tasks: 1, open_tasks: 0 });
});

test("the audit names the author of a withdrawal and of a webhook", async () => {
  const withdraw = (amount: number) =>
    t.as(agent, "POST", pathOf("withdrawals"), { amount, destination: "IBAN 1" });
  await t.deposit(agent, 3);
  expect(await withdraw(4)).toMatchObject({ status: 402 });
  const ids = [await withdraw(1), await withdraw(2)].map(({ body }) => body["withdrawal_id"]);
  const [paid, failed] = ids.map((id) => `/api/v1/admin/withdrawals/${String(id)}`);
  await t.asOperator("POST", `${paid}/complete`, { payout_reference: "p-1" });
  await t.asOperator("POST", `${failed}/fail`, { reason: "no such account" });
  expect(await t.asOperator("POST", `${failed}/fail`, { reason: "again" })).toMatchObject({
    status: 409,
  });
  const hook = { url: "https://hook.example/x", events: ["task.completed"] };
  const webhook = (await t.as(agent, "POST", pathOf("webhooks"), hook)).body["webhook_id"];
  await t.as(agent, "DELETE", pathOf(`webhooks/${String(webhook)}`));
  const entries = (await get("audit")).body["entries"] as AuditEntry[];
  expect(entries.map(({ actor, action, detail }) => [actor, action, detail]).slice(0, -1)).toEqual([
    [agent.agentId, "webhook.removed", webhook],
    [agent.agentId, "webhook.added", webhook],
    ["operator", "withdrawal.failed", ids[1]],
    ["operator", "withdrawal.completed", ids[0]],
    [agent.agentId, "withdrawal.requested", ids[1]],
    [agent.agentId, "withdrawal.requested", ids[0]],
  ]);
});

test("the audit lists who changed what of an agent, newest first", async () => {
  const phone = await createPairedDevice(t, agent, ["agent:write", "task:read"]);
  await t.as(phone, "POST", pathOf("listing"), { capabilities: ["add"] });
  const registration = { agent_id: agent.agentId, endpoint_url: "http://127.0.0.1:1" };
  for (const capabilities of [["add"], ["add"], ["add", "sum"]]) {
    await t.as(agent, "POST", "/api/v1/agents/register", { ...registration, capabilities });
  }
  await t.as(agent, "DELETE", `/api/v1/agents/${agent.agentId}`);
  const { next, succession } = createRotation(t, agent);
  await t.asOperator("POST", pathOf("rotate-key"), { succession });
  const { body } = await t.as(phone, "GET", pathOf("audit"));
  const listed = (body["entries"] as AuditEntry[]).map(({ actor, action }) => `${actor} ${action}`);
  expect(listed).toEqual([
    "operator key.rotated",
    `${agent.agentId} agent.deregistered`,
    `${agent.agentId} agent.registered`,
    `${agent.agentId} agent.registered`,
    `${agent.agentId} listing.changed`,
    `${agent.agentId} device.paired`,
    "anonymous key.bound",
  ]);
  agent = next;
  const all = await pages<AuditEntry>("audit", "entries");
  expect(all.map(({ sequence }) => sequence)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  expect(all[4]).toMatchObject({ device_id: phone.deviceId });
});
