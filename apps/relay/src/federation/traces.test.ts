import type { IncomingHttpHeaders } from "node:http";
import { createReceipt, type ManualClock, type TestAgent } from "@agent/testkit";
import type { Task } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  waitForTask,
  waitUntil,
  type TestSite,
  startTwoSites,
  closeSites,
  advanceUntil,
  type TwoSites,
} from "../../test/network/network.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";

const submitted = "1".repeat(32);
const done = "2".repeat(32);
const parentOf = (trace: string) => ({ traceparent: `00-${trace}-${"b".repeat(16)}-01` });

interface Seen {
  readonly path: string;
  readonly trace: string | undefined;
}

let clock: ManualClock;
let chooseAction: (path: string) => ProxyAction;
let seen: Seen[];
let proxies: TwoSites["proxies"];
let a: TestSite;
let b: TestSite;
let boss: TestAgent;
let worker: TestAgent;

beforeEach(async () => {
  chooseAction = () => "pass";
  seen = [];
  const watch = (path: string, headers: IncomingHttpHeaders) => {
    const trace = headers["traceparent"];
    seen.push({ path, trace: typeof trace === "string" ? trace.slice(3, 35) : undefined });
    return chooseAction(path);
  };
  const scene = await startTwoSites({ chooseAction: watch });
  ({ clock, proxies, a, b, boss, worker } = scene);
});
afterEach(() => closeSites([a, b], proxies));

const tracesAt = (path: string) =>
  seen.filter((each) => each.path.startsWith(path)).map(({ trace }) => trace);

/** Drops the first request to a path and lets the later ones pass. */
function breakOnce(path: string): void {
  let broken = false;
  chooseAction = (asked) => {
    if (asked !== path || broken) return "pass";
    broken = true;
    return "refuse";
  };
}

async function settled(): Promise<void> {
  const isPaid = async () => (await b.getBalance(worker)) > 0;
  await advanceUntil(clock, [a, b], { stepMs: 10_000, what: "the worker is paid" }, isPaid);
}

/** Delegates and completes one task across both relays, with the headers of both requests. */
async function delegateAndWork(first: Record<string, string>, last: Record<string, string>) {
  const submission = await a.request("POST", `/agent/${boss.agentId}/task`, {
    token: await a.token(boss),
    headers: first,
    body: { prompt: "work", required_capabilities: ["summarise"] },
  });
  const taskId = submission.body["task_id"];
  const task = await waitUntil(async () => {
    const pending = `/agent/${worker.agentId}/tasks?status=pending`;
    const { body } = await b.as(worker, "GET", pending);
    const [found] = (body["tasks"] as Task[]).filter(({ task_id }) => task_id === taskId);
    if (found !== undefined) return found;
    await clock.advance(10_000);
    await a.relay.tick();
    return undefined;
  }, "the task comes to the worker");
  const path = `/agent/${task.agent_id}/task/${task.task_id}/result`;
  await b.request("POST", path, {
    token: await b.token(worker),
    headers: last,
    body: createReceipt(worker, task),
  });
  await settled();
}

const paths = [
  "/federation/v1/task/forward",
  "/federation/v1/task/result",
  "/federation/v1/settlement/forward",
];

test.each(paths)(
  "B8: all requests between relays for a task carry the trace of its submission, including a repeated %s",
  async (path) => {
    breakOnce(path);
    await delegateAndWork(parentOf(submitted), {});
    expect(tracesAt(path).length).toBeGreaterThan(1);
    for (const each of paths) expect(new Set(tracesAt(each))).toEqual(new Set([submitted]));
  },
);

test("B8: a result and its settlement carry the trace of the request that submitted the receipt", async () => {
  breakOnce("/federation/v1/task/result");
  await delegateAndWork({}, parentOf(done));
  expect(new Set(tracesAt("/federation/v1/task/forward"))).toEqual(new Set([undefined]));
  expect(new Set(tracesAt("/federation/v1/task/result"))).toEqual(new Set([done]));
  expect(new Set(tracesAt("/federation/v1/settlement/forward"))).toEqual(new Set([done]));
});

test("B8: a task without a trace is sent without one, even if a request with a trace started the delivery", async () => {
  chooseAction = (path) => (path === "/federation/v1/task/forward" ? "refuse" : "pass");
  await a.request("POST", `/agent/${boss.agentId}/task`, {
    token: await a.token(boss),
    body: { prompt: "work", required_capabilities: ["summarise"] },
  });
  await waitUntil(() => tracesAt("/federation/v1/task/forward").length > 0);
  chooseAction = () => "pass";
  await clock.advance(60_000);
  // Ending the task wakes the relay's deliveries, which then send everything that is due.
  await delegateAndWork(parentOf(submitted), {});
  const [first, ...rest] = tracesAt("/federation/v1/task/forward");
  expect(first).toBeUndefined();
  expect(rest).toContain(undefined);
  expect(rest).toContain(submitted);
});

test("B8: a result keeps the trace of the receipt's request even if the operator freezes the relay in between", async () => {
  const operator = "3".repeat(32);
  chooseAction = (path) => (path === "/federation/v1/task/result" ? "refuse" : "pass");
  const { body } = await a.request("POST", `/agent/${boss.agentId}/task`, {
    token: await a.token(boss),
    headers: parentOf(submitted),
    body: { prompt: "work", required_capabilities: ["summarise"] },
  });
  const task = await waitForTask(b, worker, String(body["task_id"]));
  await b.request("POST", `/agent/${task.agent_id}/task/${task.task_id}/result`, {
    token: await b.token(worker),
    headers: parentOf(done),
    body: createReceipt(worker, task),
  });
  await waitUntil(() => tracesAt("/federation/v1/task/result").length > 0, "the first attempt");
  const asOperator = (path: string, sent: object) =>
    b.request("POST", path, { token: OPERATOR_TOKEN, headers: parentOf(operator), body: sent });
  expect(await asOperator("/api/v1/admin/freeze", { reason: "an audit" })).toMatchObject({
    status: 200,
  });
  expect(await asOperator("/api/v1/admin/unfreeze", {})).toMatchObject({ status: 200 });
  chooseAction = () => "pass";
  await settled();
  expect(new Set(tracesAt("/federation/v1/task/result"))).toEqual(new Set([done]));
});
