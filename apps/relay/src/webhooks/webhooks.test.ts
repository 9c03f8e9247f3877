import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { startLoopbackServer, type LoopbackServer, type TestAgent } from "@agent/testkit";
import type { Webhook } from "@agent/wire";
import { Webhook as Verifier } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createRevocationSql, openEditedRelay } from "../../test/stored/edited-relay.ts";
import { createBuyer, submitAcceptedTask, createSeller } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let received: Received[];
let status = 204;
/** Answers the message that was held back, while `holds` is set. */
let answerHeld: (() => void) | undefined;
let holds = false;
const receive: RequestListener = (request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    received.push({ headers: request.headers, body });
    const answer = () => void response.writeHead(status, { location: "http://127.0.0.1:1/" }).end();
    if (holds) answerHeld = answer;
    else answer();
  });
};
let receiver: LoopbackServer;
let url: string;
beforeAll(async () => {
  receiver = await startLoopbackServer(receive);
  url = `${receiver.url}/hook`;
});
afterAll(() => receiver.close());

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  [received, status, holds] = [[], 204, false];
  // The reference verifier reads the real clock.
  t = await startTestRelay();
  await t.clock.advance(Date.now() - t.clock.now());
  [boss, worker] = [await createBuyer(t, 100), await createSeller(t, 2)];
});
afterEach(() => t.close());

const everything = [
  "task.assigned",
  "task.completed",
  "task.failed",
  "settlement.created",
  "credential.issued",
];
const path = ({ agentId }: TestAgent, rest = "") => `/api/v1/agents/${agentId}/webhooks${rest}`;

async function subscribe(agent: TestAgent, events = everything, to = url) {
  const reply = await t.as(agent, "POST", path(agent), { url: to, events });
  expect(reply.status).toBe(201);
  return reply.body as { webhook_id: string; secret: string };
}

async function work(done: "completed" | "failed" = "completed"): Promise<void> {
  const task = await submitAcceptedTask(t, boss, worker);
  const receipt = createReceipt(worker, task, { status: done });
  expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({ status: 200 });
}

const state = async (agent: TestAgent) => {
  const { body } = await t.as(agent, "GET", path(agent));
  return (body["webhooks"] as Webhook[])[0];
};
const typesOf = (messages: readonly Received[]) =>
  messages.map(({ body }) => (JSON.parse(body) as { type: string }).type);
async function run(): Promise<void> {
  await t.relay.tick();
  await t.relay.idle();
}
async function pass(ms: number): Promise<void> {
  await t.clock.advance(ms);
  await run();
}

describe("An agent's webhook", () => {
  test("a webhook receives the events it subscribed to, signed as the reference verifier expects", async () => {
    const { secret } = await subscribe(worker);
    await work();
    await run();
    expect(typesOf(received).toSorted()).toEqual(
      ["settlement.created", "task.assigned", "task.completed"].toSorted(),
    );
    const verifier = new Verifier(secret);
    for (const { body, headers } of received) {
      expect(verifier.verify(body, headers as Record<string, string>)).toMatchObject({
        data: { task_id: expect.any(String) as string },
      });
    }
    const [{ body, headers }] = received as [Received];
    const changed = body.replace("task", "tusk");
    expect(() => verifier.verify(changed, headers as Record<string, string>)).toThrow("signature");
  });

  test.each(["x", "__proto__", "%00", "x402:0xabc"])(
    "the operator's webhook for the path id %s is refused, because no agent can have it",
    async (id) => {
      const to = `/api/v1/agents/${id}/webhooks`;
      expect(await t.asOperator("POST", to, { url, events: everything })).toMatchObject({
        status: 400,
        body: { code: "request.invalid", issues: [{ path: "agentId" }] },
      });
      const { body } = await t.asOperator("GET", to);
      expect(body["webhooks"]).toEqual([]);
    },
  );

  test("the operator's webhook for an agent is accepted", async () => {
    const to = path(worker);
    expect(await t.asOperator("POST", to, { url, events: everything })).toMatchObject({
      status: 201,
    });
  });

  test("D13: a webhook of a revoked agent receives nothing more", async () => {
    await subscribe(boss, ["task.completed"]);
    await subscribe(worker, ["task.completed"]);
    const task = await submitAcceptedTask(t, boss, worker);
    expect((await t.as(worker, "POST", `${task.path}/claim`)).status).toBe(200);
    await t.asOperator("POST", `/api/v1/agents/${boss.agentId}/revoke`, {});
    const receipt = createReceipt(worker, task);
    expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
    await run();
    expect(typesOf(received)).toEqual(["task.completed"]);
    const { body } = await t.asOperator("GET", path(boss));
    expect(body).toEqual({ webhooks: [] });
    expect((await t.asOperator("GET", path(worker))).body["webhooks"]).toHaveLength(1);
  });

  test("D14: a webhook that is added while its agent is being revoked is refused", async () => {
    const token = await t.token(boss);
    const body = { url, events: everything };
    // The relay knows the token from here on, and reads nothing to verify it again.
    expect((await t.request("POST", path(boss), { token, body })).status).toBe(201);
    const revoked = t.asOperator("POST", `/api/v1/agents/${boss.agentId}/revoke`, {});
    const added = t.request("POST", path(boss), { token, body });
    expect(await revoked).toMatchObject({ status: 200 });
    expect(await added).toMatchObject({ status: 403, body: { code: "agent.revoked" } });
    expect((await t.asOperator("GET", path(boss))).body).toEqual({ webhooks: [] });
    await subscribe(worker);
  });

  test("D14: a second revocation deletes the webhooks that an earlier version did not delete", async () => {
    const createWebhookSql = ({ agentId }: TestAgent) =>
      `INSERT INTO webhooks (webhook_id, agent_id, url, secret, events, state, failures, paused_until, created_at)
       VALUES ('one', '${agentId}', '${url}', 'whsec_', '[]', 'active', 0, 0, 1)`;
    const edited = await openEditedRelay((agent) =>
      [createRevocationSql(agent), createWebhookSql(agent)].join(";"),
    );
    const list = () => edited.t.asOperator("GET", path(edited.agent));
    expect((await list()).body["webhooks"]).toHaveLength(1);
    const revocation = `/api/v1/agents/${edited.agent.agentId}/revoke`;
    const { body } = await edited.t.asOperator("POST", revocation, {});
    expect(body).toMatchObject({ revoked: true, revoked_at: 1 });
    expect((await list()).body).toEqual({ webhooks: [] });
    await edited.close();
  });

  test("a webhook receives no events of other kinds or other agents", async () => {
    await subscribe(boss, ["task.failed"]);
    await subscribe(await t.createAgent());
    await work();
    await run();
    expect(received).toEqual([]);
    await work("failed");
    await pass(1_000);
    expect(typesOf(received)).toEqual(["task.failed"]);
  });

  test("a webhook receives an event again under the same id, with growing delays, until it accepts", async () => {
    await subscribe(boss, ["task.completed"]);
    status = 500;
    await work();
    await run();
    expect(received).toHaveLength(1);
    expect(await state(boss)).toMatchObject({ failures: 1, last_error: "answers 500" });
    await pass(4_000);
    expect(received).toHaveLength(1);
    await pass(1_000);
    expect(received).toHaveLength(2);
    status = 204;
    await pass(60_000);
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(await state(boss)).toMatchObject({ state: "active", failures: 0, last_error: null });
    await pass(3_600_000);
    expect(received).toHaveLength(3);
  });

  test("a webhook loses an event after six failed attempts, but receives later ones", async () => {
    await subscribe(boss, ["task.completed"]);
    status = 500;
    await work();
    await run();
    for (const ms of [5_000, 60_000, 600_000, 3_600_000, 21_600_000, 86_400_000]) await pass(ms);
    expect(received).toHaveLength(6);
    expect(await state(boss)).toMatchObject({ state: "active", failures: 6 });
  });

  test("a webhook is disabled with a reason after 20 consecutive failures, and enabled again by a test message", async () => {
    const { webhook_id } = await subscribe(boss, ["task.completed"]);
    status = 302;
    for (let i = 0; i < 20; i += 1) {
      await work();
      await pass(1_000_000);
    }
    const disabled = await state(boss);
    expect(disabled).toMatchObject({ state: "disabled", failures: 20 });
    expect(disabled?.last_error).toBe("answers with a redirect");
    const before = received.length;
    await work();
    await pass(100_000_000);
    expect(received).toHaveLength(before);
    status = 204;
    const tested = await t.as(boss, "POST", path(boss, `/${webhook_id}/test`));
    expect(tested).toMatchObject({ status: 200, body: { delivered: true } });
    expect(await state(boss)).toMatchObject({ state: "active", failures: 0 });
    await work();
    await pass(1_000);
    expect(typesOf(received.slice(before))).toEqual(["webhook.test", "task.completed"]);
  });

  test("a webhook keeps its events if its 20th failure began before a test message was accepted", async () => {
    const { webhook_id } = await subscribe(boss, ["task.completed"]);
    status = 500;
    for (let i = 0; i < 19; i += 1) {
      await work();
      await pass(1_000_000);
    }
    expect(await state(boss)).toMatchObject({ state: "active", failures: 19 });
    holds = true;
    await t.clock.advance(1_000_000);
    await t.relay.tick();
    await expect.poll(() => answerHeld).toBeDefined();
    [holds, status] = [false, 204];
    const tested = await t.as(boss, "POST", path(boss, `/${webhook_id}/test`));
    expect(tested).toMatchObject({ status: 200, body: { delivered: true } });
    status = 500;
    answerHeld?.();
    await t.relay.idle();
    expect(await state(boss)).toMatchObject({ state: "active", failures: 0 });
    status = 204;
    const before = received.length;
    await pass(100_000_000);
    expect(new Set(typesOf(received.slice(before)))).toEqual(new Set(["task.completed"]));
  });

  test("B8: a webhook receives each event in the trace of its request, at every attempt", async () => {
    await subscribe(boss, ["task.completed"]);
    const trace = (digit: string) => digit.repeat(32);
    const deliver = async (digit: string | undefined) => {
      const task = await submitAcceptedTask(t, boss, worker);
      const token = await t.token(worker);
      const headers: Record<string, string> =
        digit === undefined
          ? {}
          : { traceparent: `00-${trace(digit)}-${"b".repeat(16)}-01`, tracestate: `v=${digit}` };
      const body = createReceipt(worker, task);
      const reply = await t.request("POST", `${task.path}/result`, { token, headers, body });
      expect(reply.status).toBe(200);
      return task.task_id;
    };
    // Concurrent requests end in one commit.
    const digits = ["1", undefined, "2", undefined, "3"];
    const taskIds = await Promise.all(digits.map(deliver));
    await run();
    const seen = new Map(
      received.map(({ headers, body }) => {
        const { data } = JSON.parse(body) as { data: { task_id: string } };
        return [data.task_id, [headers["traceparent"]?.slice(3, 35), headers["tracestate"]]];
      }),
    );
    const expected = digits.map((digit, at) => [
      taskIds[at],
      digit === undefined ? [undefined, undefined] : [trace(digit), `v=${digit}`],
    ]);
    expect(seen).toEqual(new Map(expected as [string, string[]][]));

    received = [];
    status = 500;
    await deliver("4");
    for (const ms of [1_000, 5_000, 60_000]) await pass(ms);
    expect(received.map(({ headers }) => headers["traceparent"]?.slice(3, 35))).toEqual(
      Array(3).fill(trace("4")),
    );
  });

  test("a webhook is disabled at once when its endpoint answers 410", async () => {
    await subscribe(boss, ["task.completed"]);
    status = 410;
    await work();
    await run();
    expect(await state(boss)).toMatchObject({ state: "disabled", failures: 1 });
  });

  test("a webhook receives nothing after it was deleted", async () => {
    const { webhook_id } = await subscribe(boss, ["task.completed"]);
    await work();
    expect(await t.as(boss, "DELETE", path(boss, `/${webhook_id}`))).toMatchObject({ status: 200 });
    await run();
    expect(received).toEqual([]);
    expect(await t.as(boss, "DELETE", path(boss, `/${webhook_id}`))).toMatchObject({ status: 404 });
  });

  test("a webhook is visible to its owner only, and its secret is shown only once", async () => {
    const { webhook_id, secret } = await subscribe(boss);
    for (const [method, rest] of [
      ["GET", ""],
      ["DELETE", `/${webhook_id}`],
      ["POST", `/${webhook_id}/test`],
    ] as const) {
      expect(await t.as(worker, method, path(boss, rest))).toMatchObject({ status: 403 });
    }
    const own = await t.as(worker, "DELETE", path(worker, `/${webhook_id}`));
    expect(own).toMatchObject({ status: 404 });
    expect((await t.as(boss, "GET", path(boss))).text).not.toContain(secret);
    expect(t.lines.join("")).not.toContain(secret);
  });

  test.each([
    "ftp://hook.example/",
    "http://user:pass@hook.example/",
    "http://169.254.169.254/latest",
    "junk",
  ])("a webhook cannot have the address %s", async (to) => {
    const reply = await t.as(boss, "POST", path(boss), { url: to, events: ["task.completed"] });
    expect(reply).toMatchObject({ status: 400, body: { code: "webhook.url_refused" } });
  });
});
