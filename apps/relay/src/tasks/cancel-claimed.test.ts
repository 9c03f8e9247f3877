import type { TestAgent } from "@agent/testkit";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  settleEventLoop,
  claimNewTask,
  serveTestRelay,
  type ServedRelay,
} from "../../test/devices.ts";
import {
  startMcpEndpoint,
  registerEndpoint,
  startSessionEndpoint,
  textResult,
  type Endpoint,
} from "../../test/network/endpoint.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createSeller,
  getTaskAt,
  getTaskStatus,
  type Delegation,
} from "../../test/market.ts";
import { OPERATOR_TOKEN, createReceipt } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
const endpoints: Endpoint[] = [];
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  await t.clock.advance(1_000);
});
afterEach(async () => {
  await t.close();
  for (const endpoint of endpoints.splice(0)) await endpoint.close();
});

const cancel = ({ path }: Delegation, by = boss) => t.as(by, "POST", `${path}/cancel`);
const statusOf = (task: Delegation) => getTaskStatus(t, task);

const claimant = (body = {}) => claimNewTask(t, boss, worker, body);

/** Connects a device with a claimed task, and requests the cancel. */
async function asked(body = {}) {
  const claimed = await claimant(body);
  const answer = await cancel(claimed.task);
  expect(answer).toEqual(
    expect.objectContaining({
      status: 202,
      body: {
        task_id: claimed.task.task_id,
        status: "claimed",
        cancel_requested_at: t.clock.now(),
      },
    }),
  );
  expect(await claimed.device.next("cancel_requested")).toEqual({
    type: "cancel_requested",
    task_id: claimed.task.task_id,
  });
  return claimed;
}

/** Expects the whole hold to be returned, and no failure to be recorded. */
async function expectCancelled(task: Delegation): Promise<void> {
  expect(await statusOf(task)).toBe("cancelled");
  expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([10, 0]);
  const [holdings] = await getAgentStates(t, [boss]);
  expect(holdings?.trust).toEqual([]);
  await expectConsistentBooks(t, { holds: 0 });
}

describe("B2: the cancel of a task that a device has claimed", () => {
  test("B2: a cancel takes effect when the device releases the task, and the hold is returned", async () => {
    const { device, task } = await asked();
    expect(await t.getBalance(boss)).toBe(7.6);
    device.send({ type: "release", task_id: task.task_id });
    expect(await device.next("task_cancelled")).toMatchObject({ task_id: task.task_id });
    await expectCancelled(task);
    const late = await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    expect(late).toMatchObject({ status: 409, body: { code: "task.already_finished" } });
  });

  test("B2: a cancel takes effect when the device refuses the task, as older devices do", async () => {
    const { device, task } = await asked();
    device.send({ type: "refuse", task_id: task.task_id });
    await device.next("task_cancelled");
    await expectCancelled(task);
  });

  test("B2: a cancel takes effect 60 s after the request, though the socket is open", async () => {
    const { device, task } = await asked();
    await t.advance(59_000);
    expect(await statusOf(task)).toBe("claimed");
    await t.advance(6_000);
    expect(await device.next("task_cancelled")).toMatchObject({ task_id: task.task_id });
    await expectCancelled(task);
    expect(
      (await t.as(boss, "GET", `/agent/${boss.agentId}/tasks?submitted_by=me&status=expired`)).body[
        "tasks"
      ],
    ).toEqual([]);
  });

  test("B2: a cancel waits for a slow worker that reports progress, and its receipt is paid", async () => {
    const { device, task } = await asked();
    for (let minutes = 0; minutes < 4; minutes += 1) {
      await t.advance(50_000);
      device.send({ type: "progress", task_id: task.task_id, note: "still at it" });
      await settleEventLoop();
    }
    expect(await statusOf(task)).toBe("claimed");
    device.send({
      type: "result",
      task_id: task.task_id,
      receipt: { ...createReceipt(worker, task) },
    });
    expect(await device.next("result_accepted")).toMatchObject({ status: "completed" });
    expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([8, 1.9]);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("B2: a cancel takes effect at the wall clock, however much progress the worker reports", async () => {
    const { device, task } = await asked({ wall_clock_ms: 100_000 });
    for (let seconds = 0; seconds < 90; seconds += 30) {
      await t.advance(30_000);
      device.send({ type: "progress", task_id: task.task_id });
      await settleEventLoop();
    }
    expect(await statusOf(task)).toBe("claimed");
    await t.advance(15_000);
    await device.next("task_cancelled");
    await expectCancelled(task);
  });

  test("B2: a cancel loses against a receipt that arrives before it takes effect", async () => {
    const { device, task } = await asked();
    device.send({
      type: "result",
      task_id: task.task_id,
      receipt: { ...createReceipt(worker, task) },
    });
    expect(await device.next("result_accepted")).toMatchObject({ status: "completed" });
    expect(await cancel(task)).toMatchObject({ status: 409, body: { code: "task.not_pending" } });
    await t.advance(70_000);
    expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([8, 1.9]);
  });

  test("B2: a cancel takes effect when the lease expires of a claim whose device has disconnected", async () => {
    const { device, task } = await asked();
    device.socket.terminate();
    await device.closed;
    await settleEventLoop();
    await t.advance(60_000);
    await t.advance(6_000);
    await expectCancelled(task);
  });

  test("B2: a cancel is shown in polls, and a repeated request reminds the device without extending the time", async () => {
    const { device, task } = await asked();
    const since = t.clock.now();
    await t.advance(40_000);
    expect(await cancel(task)).toMatchObject({
      status: 202,
      body: { cancel_requested_at: since },
    });
    expect(await getTaskAt(t, task.path)).toMatchObject({ cancel_requested_at: since });
    await device.next("cancel_requested");
    await t.advance(20_000);
    await t.advance(6_000);
    await expectCancelled(task);
  });

  test("B2: only the submitter can request a cancel, and only the holder of the claim can agree to it", async () => {
    const { task } = await claimant();
    expect(await cancel(task, worker)).toMatchObject({
      status: 403,
      body: { code: "task.not_submitter" },
    });
    await cancel(task);
    const other = await t.connectDevice(worker, OPERATOR_TOKEN);
    other.send({ type: "release", task_id: task.task_id });
    expect(await other.next("error")).toMatchObject({ code: "task.not_claimed" });
    expect(await statusOf(task)).toBe("claimed");
  });

  test("B2: a request to cancel is sent only to the device that has the claim", async () => {
    const { device, task } = await claimant();
    const other = await t.connectDevice(worker, OPERATOR_TOKEN);
    expect((await cancel(task)).status).toBe(202);
    expect(await device.next("cancel_requested")).toMatchObject({ task_id: task.task_id });
    expect(await other.takeRemaining()).toEqual([]);
  });

  test("B2: a polling worker learns of a cancel when it renews its claim, and can agree to it over HTTP", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${task.path}/claim`);
    await cancel(task);
    const renewed = await t.as(worker, "POST", `${task.path}/claim`);
    expect(renewed.body).toMatchObject({ cancel_requested_at: t.clock.now() });
    expect(await t.as(worker, "DELETE", `${task.path}/claim`)).toMatchObject({
      status: 200,
      body: { status: "cancelled" },
    });
    await expectCancelled(task);
  });

  test("B2: a cancel takes effect 60 s after the request, whatever the age of a polling worker's lease", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${task.path}/claim`);
    await t.advance(40_000);
    expect((await cancel(task)).status).toBe(202);
    await t.advance(58_000);
    expect(await statusOf(task)).toBe("claimed");
    await t.advance(7_000);
    await expectCancelled(task);
  });

  test.each([
    ["renews its claim", "claim", undefined],
    ["reports progress", "progress", {}],
  ])(
    "B2: a cancel waits for a polling worker that %s, and its receipt is paid",
    async (...given) => {
      const [, verb, body] = given;
      const task = await submitAcceptedTask(t, boss, worker);
      await t.as(worker, "POST", `${task.path}/claim`);
      expect((await cancel(task)).status).toBe(202);
      for (let minutes = 0; minutes < 3; minutes += 1) {
        await t.advance(50_000);
        expect((await t.as(worker, "POST", `${task.path}/${verb}`, body)).status).toBe(200);
      }
      const receipt = createReceipt(worker, task);
      expect((await t.as(worker, "POST", `${task.path}/result`, receipt)).status).toBe(200);
      expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([8, 1.9]);
    },
  );

  test.each(["progress", "claim"] as const)(
    "B2: a device that was offline learns of a cancel when it reconnects and sends %s",
    async (type) => {
      const { device, task } = await claimant();
      device.socket.terminate();
      await device.closed;
      await settleEventLoop();
      expect((await cancel(task)).status).toBe(202);
      const back = await t.connectDevice(worker);
      back.send({ type, task_id: task.task_id });
      const { task_id } = task;
      const received = (await back.takeRemaining()).filter((message) => message.type !== "claimed");
      expect(received).toEqual([{ type: "cancel_requested", task_id }]);
      back.send({ type: "progress", task_id });
      expect(await back.takeRemaining()).toEqual([]);
      back.send({ type: "release", task_id });
      await back.next("task_cancelled");
      await expectCancelled(task);
    },
  );

  test("B2: many concurrent cancels and agreements return the hold once", async () => {
    const { device, task } = await claimant();
    const cancels = Array.from({ length: 10 }, () => cancel(task));
    device.send({ type: "release", task_id: task.task_id });
    const statuses = (await Promise.all(cancels)).map(({ status }) => status);
    expect(statuses.every((status) => [200, 202, 409].includes(status))).toBe(true);
    await settleEventLoop();
    await cancel(task);
    await expectCancelled(task);
  });
});

describe("B2: the cancel of a task that an endpoint executes", () => {
  const hangs = (aborted: string[]) => (_: unknown, signal: AbortSignal) =>
    new Promise<CallToolResult>((resolve) => {
      signal.addEventListener("abort", () => {
        aborted.push("aborted");
        resolve({ ...textResult("stopped"), isError: true });
      });
    });

  test.each([
    ["of the current revision", startMcpEndpoint],
    ["with sessions", startSessionEndpoint],
  ])(
    "B2: a cancel ends the MCP call at a server %s, and takes effect 60 s later",
    async (_, open) => {
      const aborted: string[] = [];
      const endpoint = await open(hangs(aborted));
      endpoints.push(endpoint);
      await registerEndpoint(t, worker, endpoint.url);
      const task = await submitAcceptedTask(t, boss, worker);
      await expect.poll(() => endpoint.calls).toHaveLength(1);
      expect((await cancel(task)).status).toBe(202);
      await expect.poll(() => aborted).toEqual(["aborted"]);
      await t.advance(59_000);
      expect(await statusOf(task)).toBe("claimed");
      await t.advance(6_000);
      await expectCancelled(task);
      expect(endpoint.calls).toHaveLength(1);
    },
  );

  test("B2: a cancel leaves the agent time to deliver its result", async () => {
    const endpoint = await startMcpEndpoint(hangs([]));
    endpoints.push(endpoint);
    await registerEndpoint(t, worker, endpoint.url);
    const task = await submitAcceptedTask(t, boss, worker);
    await expect.poll(() => endpoint.calls).toHaveLength(1);
    await cancel(task);
    await settleEventLoop();
    const receipt = createReceipt(worker, task);
    expect((await t.as(worker, "POST", `${task.path}/result`, receipt)).status).toBe(200);
    expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([8, 1.9]);
  });

  test("B2: an agent can agree over HTTP to a cancel of its endpoint's task", async () => {
    const endpoint = await startMcpEndpoint(hangs([]));
    endpoints.push(endpoint);
    await registerEndpoint(t, worker, endpoint.url);
    const task = await submitAcceptedTask(t, boss, worker);
    await expect.poll(() => endpoint.calls).toHaveLength(1);
    expect((await t.as(worker, "DELETE", `${task.path}/claim`)).status).toBe(409);
    await cancel(task);
    expect((await t.as(worker, "DELETE", `${task.path}/claim`)).body).toMatchObject({
      status: "cancelled",
    });
    await expectCancelled(task);
  });
});
