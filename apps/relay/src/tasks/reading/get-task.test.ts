import type { Task } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createReceipt, type TestAgent } from "@agent/testkit";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  type Delegation,
} from "../../../test/market.ts";
import {
  OPERATOR_TOKEN,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
let task: Delegation;
beforeEach(async () => {
  t = await startTestRelay();
  boss = await createBuyer(t, 100);
  worker = await createSeller(t, 2);
  task = await submitAcceptedTask(t, boss, worker);
});
afterEach(() => t.close());

const deliver = (change?: Parameters<typeof createReceipt>[2]) =>
  t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task, change));

describe("polls", () => {
  test("a poll returns the task without a receipt, and with the receipt once it is stored", async () => {
    const open = await t.as(boss, "GET", task.path);
    expect(open).toMatchObject({
      status: 200,
      body: { task: { task_id: task.task_id, status: "pending" }, receipt: null },
    });
    const receipt = createReceipt(worker, task);
    await t.as(worker, "POST", `${task.path}/result`, receipt);
    const done = await t.as(boss, "GET", task.path);
    expect(done).toMatchObject({ status: 200, body: { task: { status: "completed" } } });
    expect(done.body["receipt"]).toEqual(receipt);
  });

  test("a poll is allowed to the submitter, the target and the assigned executor alone", async () => {
    const executor = await createSeller(t, { count: 1 });
    const wanted = { required_capabilities: ["count"] };
    const { path } = await submitAcceptedTask(t, boss, worker, wanted);
    for (const participant of [boss, worker, executor]) {
      expect((await t.as(participant, "GET", path)).status).toBe(200);
    }
    expect(await t.as(await t.createAgent(), "GET", path)).toMatchObject({
      status: 403,
      body: { code: "task.not_participant" },
    });
  });

  test("a poll without authorization is answered with 401, and one with a junk token with 403", async () => {
    expect((await t.request("GET", task.path)).status).toBe(401);
    expect((await t.request("GET", task.path, { token: "junk" })).status).toBe(403);
  });

  test.each([
    ["an unknown task", () => `/agent/${worker.agentId}/task/unknown`],
    ["a task of another target", () => `/agent/${boss.agentId}/task/${task.task_id}`],
  ])("a poll of %s is answered with 404", async (_, path) => {
    expect(await t.as(boss, "GET", path())).toMatchObject({
      status: 404,
      body: { code: "task.not_found" },
    });
  });

  test("a poll of an expired task is answered with 404, before and after the task is removed", async () => {
    await t.clock.advance(899_999);
    expect((await t.as(boss, "GET", task.path)).status).toBe(200);
    await t.clock.advance(1);
    expect((await t.as(boss, "GET", task.path)).status).toBe(404);
    await t.relay.tick();
    expect((await t.as(boss, "GET", task.path)).status).toBe(404);
  });

  test.each(["-1", "61", "1.5", "x", ""])(
    "a poll that waits for %j seconds is answered with 400",
    async (wait) => {
      expect(await t.as(boss, "GET", `${task.path}?wait=${wait}`)).toMatchObject({
        status: 400,
        body: { issues: [{ path: "wait" }] },
      });
    },
  );
});

describe("long polls", () => {
  const status = ({ body }: Reply) => (body["task"] as Task | undefined)?.status;
  const waiting = (seconds = 30) => t.as(boss, "GET", `${task.path}?wait=${seconds}`);
  const begun = (polls = 1) =>
    vi.waitFor(() => expect(t.clock.pending()).toHaveLength(polls), { interval: 1 });

  test.each(["completed", "failed", "denied"] as const)(
    "a long poll is answered as soon as a %s receipt is stored",
    async (outcome) => {
      const polled = waiting();
      await begun();
      expect((await deliver({ status: outcome })).status).toBe(200);
      expect(status(await polled)).toBe(outcome);
      expect(t.clock.pending()).toEqual([]);
    },
  );

  test("a long poll returns the open task if nothing changed while it waited", async () => {
    const polled = waiting(30);
    await begun();
    await t.clock.advance(29_999);
    expect(t.clock.pending()).toEqual([1]);
    await t.clock.advance(1);
    expect(status(await polled)).toBe("pending");
  });

  test("a long poll is answered when the task is cancelled, and with 404 when it expires", async () => {
    const cancelled = waiting(60);
    await begun();
    await t.as(boss, "POST", `${task.path}/cancel`);
    expect(status(await cancelled)).toBe("cancelled");

    task = await submitAcceptedTask(t, boss, worker);
    await t.clock.advance(890_000);
    const expired = waiting(60);
    await begun();
    await t.clock.advance(10_000);
    await t.relay.tick();
    expect((await expired).status).toBe(404);
  });

  test("a long poll is answered at once if the task is finished, unknown or not the caller's", async () => {
    await deliver();
    expect(status(await waiting())).toBe("completed");
    const unknown = `/agent/${worker.agentId}/task/unknown?wait=30`;
    expect((await t.as(boss, "GET", unknown)).status).toBe(404);
    const foreign = await t.as(await t.createAgent(), "GET", `${task.path}?wait=30`);
    expect(foreign.status).toBe(403);
  });

  test("a long poll ends when its client disconnects", async () => {
    const client = new AbortController();
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const { signal } = client;
    const url = `http://relay.test${task.path}?wait=60`;
    const polled = t.relay.fetch(new Request(url, { headers, signal }));
    await begun();
    client.abort();
    await polled;
    expect(t.clock.pending()).toEqual([]);
  });

  test("a long poll is answered when the relay drains, and a new one is refused with Retry-After", async () => {
    const polled = waiting(60);
    await begun();
    await t.relay.drain();
    expect(status(await polled)).toBe("pending");
    const late = await waiting(60);
    expect(late).toMatchObject({ status: 503, body: { code: "server.draining" } });
    expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("one change of a task answers all of its many long polls", async () => {
    const polls = Array.from({ length: 50 }, () => waiting());
    await begun(50);
    await deliver();
    expect((await Promise.all(polls)).map(status)).toEqual(polls.map(() => "completed"));
  });
});

describe("lists of tasks", () => {
  /** Submits each task in a different millisecond, so that their order is that of submission. */
  const next: typeof submitAcceptedTask = async (...args) => {
    await t.clock.advance(1);
    return submitAcceptedTask(...args);
  };
  const list = async (agent: TestAgent, query = "") =>
    t.as(agent, "GET", `/agent/${agent.agentId}/tasks${query}`);
  const ids = ({ body }: Reply) => (body["tasks"] as Task[]).map(({ task_id }) => task_id);

  test("the list of tasks shows tasks that are addressed or assigned to the agent, newest first", async () => {
    const executor = await createSeller(t, { count: 1 });
    const wanted = { required_capabilities: ["count"] };
    const routed = await next(t, boss, worker, wanted);
    const own = await next(t, boss, executor);
    expect(ids(await list(worker))).toEqual([routed.task_id, task.task_id]);
    expect(ids(await list(executor))).toEqual([own.task_id, routed.task_id]);
    expect(ids(await list(boss))).toEqual([]);
  });

  test("the list of tasks shows the agent's submissions with submitted_by=me", async () => {
    const second = await next(t, boss, worker);
    await next(t, worker, boss);
    expect(ids(await list(boss, "?submitted_by=me"))).toEqual([second.task_id, task.task_id]);
  });

  test("the list of tasks shows only tasks in the requested status, and no expired task", async () => {
    const second = await next(t, boss, worker);
    await deliver();
    expect(ids(await list(worker, "?status=completed"))).toEqual([task.task_id]);
    expect(ids(await list(worker, "?status=pending"))).toEqual([second.task_id]);
    expect(ids(await list(worker, "?status=cancelled"))).toEqual([]);
    await t.clock.advance(900_000);
    expect(ids(await list(worker))).toEqual([task.task_id]);
  });

  test.each([
    ["", 1],
    ["&submitted_by=me", 0],
  ])(
    "the list of tasks is paged by limit and cursor without loss or repetition (%s)",
    async (query, of) => {
      const agent = [boss, worker][of]!;
      for (let i = 1; i < 5; i++) await next(t, boss, worker);
      const all = ids(await list(agent, `?limit=200${query}`));
      expect(all).toHaveLength(5);
      const paged: string[] = [];
      let cursor = "";
      do {
        const page = await list(agent, `?limit=2${query}${cursor}`);
        paged.push(...ids(page));
        const next = page.body["next_cursor"] as string | null;
        cursor = next === null ? "" : `&cursor=${next}`;
      } while (cursor !== "");
      expect(paged).toEqual(all);
    },
  );

  test.each(["limit=0", "limit=201", "limit=x", "cursor=%00", "status=done", "submitted_by=you"])(
    "a list with %s is answered with 400",
    async (query) => expect((await list(worker, `?${query}`)).status).toBe(400),
  );

  test("the list of tasks is shown to the agent itself and the operator only", async () => {
    const path = `/agent/${worker.agentId}/tasks`;
    expect(await t.as(boss, "GET", path)).toMatchObject({
      status: 403,
      body: { code: "auth.not_owner" },
    });
    expect((await t.asOperator("GET", path)).status).toBe(200);
  });
});
