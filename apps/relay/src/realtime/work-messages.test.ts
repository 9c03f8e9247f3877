import type { TestAgent } from "@agent/testkit";
import type { ClientMessage } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { quiet, serveTestRelay, type Device, type ServedRelay } from "../../test/devices.ts";
import {
  buyer,
  delegate,
  expectConsistentBooks,
  holdingsOf,
  seller,
  taskAt,
  type Delegation,
} from "../../test/market.ts";
import { masterToken, receiptOf } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await buyer(t, 10), await seller(t, 2)];
});
afterEach(() => t.close());

/** A second worker of the same agent: the operator's socket has no device of the agent's. */
const secondDevice = () => t.device(worker, masterToken);

async function claimed(device: Device, { task_id }: Delegation): Promise<void> {
  device.say({ type: "claim", task_id });
  expect(await device.next("claimed")).toMatchObject({ task_id });
}

async function offered(device: Device): Promise<Delegation> {
  const task = await delegate(t, boss, worker);
  expect((await device.next("task_assigned")).task.task_id).toBe(task.task_id);
  return task;
}

const money = async () =>
  (await holdingsOf(t, [boss, worker])).map(({ balance, transactions }) => [balance, transactions]);

const statusOf = async ({ path }: Delegation) => (await taskAt(t, path)).status;

describe("a task that comes while devices are connected", () => {
  test("is written to all devices of its executor and to nobody else's", async () => {
    const [first, second] = [await t.device(worker), await secondDevice()];
    const others = [await t.device(boss), await t.device(await seller(t, 2))];
    const task = await delegate(t, boss, worker, { prompt: "count" });
    const expected = {
      task: { task_id: task.task_id, agent_id: worker.agentId, prompt: "count", assigned_to: null },
      expires_at: task.submitted_at + 900_000,
    };
    for (const device of [first, second]) {
      expect(await device.next("task_assigned")).toMatchObject(expected);
    }
    for (const other of others) expect(await other.rest()).toEqual([]);
  });

  test("B7: with required capabilities goes only to devices that announced them", async () => {
    const able = await t.device(worker);
    const unable = await secondDevice();
    const silent = await secondDevice();
    able.say({ type: "capabilities", capabilities: ["translate", "summarise"] });
    unable.say({ type: "capabilities", capabilities: ["translate"] });
    await quiet();
    await delegate(t, boss, worker, { required_capabilities: ["summarise"] });
    await able.next("task_assigned");
    expect([await unable.rest(), await silent.rest()]).toEqual([[], []]);
    const free = await delegate(t, boss, worker);
    for (const device of [able, unable, silent]) {
      expect((await device.next("task_assigned")).task.task_id).toBe(free.task_id);
    }
  });

  test("B7: with required capabilities goes to all devices when none of the agent ever announced any", async () => {
    const [first, second] = [await t.device(worker), await secondDevice()];
    const task = await delegate(t, boss, worker, { required_capabilities: ["summarise"] });
    for (const device of [first, second]) {
      expect((await device.next("task_assigned")).task.task_id).toBe(task.task_id);
    }
  });

  test("B7: waits for the device that announced the capability, though another one is connected", async () => {
    const able = await t.device(worker);
    able.say({ type: "capabilities", capabilities: ["summarise"] });
    await quiet();
    able.socket.terminate();
    await able.closed;
    await quiet();
    const silent = await secondDevice();
    const task = await delegate(t, boss, worker, { required_capabilities: ["summarise"] });
    expect(await silent.rest()).toEqual([]);
    // What a device announced counts when it comes back, before it says a word.
    const again = await t.device(worker);
    expect((await again.next("task_assigned")).task.task_id).toBe(task.task_id);
    expect(await again.rest()).toEqual([]);
    silent.say({ type: "capabilities", capabilities: ["summarise"] });
    expect((await silent.next("task_assigned")).task.task_id).toBe(task.task_id);
  });

  test("B7: comes once to a device that announces at once what it had announced before", async () => {
    const first = await t.device(worker);
    first.say({ type: "capabilities", capabilities: ["summarise"] });
    await quiet();
    first.socket.terminate();
    await first.closed;
    await quiet();
    const tasks = [
      await delegate(t, boss, worker, { required_capabilities: ["summarise"] }),
      await delegate(t, boss, worker),
    ];
    const again = await t.device(worker);
    again.say({ type: "capabilities", capabilities: ["summarise"] });
    const told = await again.rest();
    expect(told.flatMap((message) => ("task" in message ? [message.task.task_id] : []))).toEqual(
      tasks.map(({ task_id }) => task_id),
    );
  });

  test("is there for a device that learns to do it", async () => {
    const device = await t.device(worker);
    device.say({ type: "capabilities", capabilities: ["translate"] });
    await quiet();
    const task = await delegate(t, boss, worker, { required_capabilities: ["summarise"] });
    await delegate(t, boss, worker);
    await device.next("task_assigned");
    device.say({ type: "capabilities", capabilities: ["translate", "summarise"] });
    expect(await device.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
    expect(await device.rest()).toEqual([]);
  });
});

describe("a claim", () => {
  test("is confirmed with its lease of 60 s, and the task reads claimed", async () => {
    const device = await t.device(worker);
    const task = await offered(device);
    const waiting = t.as(boss, "GET", `${task.path}?wait=60`);
    await quiet();
    device.say({ type: "claim", task_id: task.task_id });
    expect(await device.next("claimed")).toEqual({
      type: "claimed",
      task_id: task.task_id,
      lease_until: t.clock.now() + 60_000,
    });
    expect((await waiting).body).toMatchObject({ task: { status: "claimed" } });
  });

  test("of several at once is won by one, and the others are told", async () => {
    const devices = [await t.device(worker), await secondDevice(), await secondDevice()];
    const task = await delegate(t, boss, worker);
    for (const device of devices) await device.next("task_assigned");
    for (const device of devices) device.say({ type: "claim", task_id: task.task_id });
    const answers = await Promise.all(devices.map((device) => device.rest()));
    const types = answers.flat().map(({ type }) => type);
    expect(types.toSorted((a, b) => a.localeCompare(b))).toEqual(["claimed", "error", "error"]);
    expect(answers.flat()).toContainEqual({
      type: "error",
      code: "task.not_pending",
      message: "Task is no longer pending",
      task_id: task.task_id,
    });
  });

  test("of a task that has gone from pending is refused", async () => {
    const device = await t.device(worker);
    const done = await offered(device);
    const cancelled = await offered(device);
    const expired = await offered(device);
    await t.as(worker, "POST", `${done.path}/result`, receiptOf(worker, done));
    await t.as(boss, "POST", `${cancelled.path}/cancel`);
    await device.next("task_cancelled");
    await t.clock.advance(899_999);
    const late = await t.device(worker);
    await late.next("task_assigned");
    await t.clock.advance(1);
    for (const { task_id } of [done, cancelled, expired, { task_id: "unknown" }]) {
      late.say({ type: "claim", task_id });
      expect(await late.next("error")).toMatchObject({ code: "task.not_pending", task_id });
    }
    const other = await delegate(t, boss, await seller(t, 1));
    late.say({ type: "claim", task_id: other.task_id });
    expect(await late.next("error")).toMatchObject({ code: "task.not_pending" });
    expect(await statusOf(other)).toBe("pending");
  });
});

describe("a refusal", () => {
  test("gives a claimed task back, and somebody else may claim it", async () => {
    const [first, second] = [await t.device(worker), await secondDevice()];
    const task = await offered(first);
    await second.next("task_assigned");
    await claimed(first, task);
    first.say({ type: "refuse", task_id: task.task_id, reason: "busy" });
    await quiet();
    expect(await statusOf(task)).toBe("pending");
    expect(t.logged("task.refused")).toMatchObject([
      { correlationId: task.task_id, reason: "busy" },
    ]);
    await claimed(second, task);
  });

  test.each<[string, (task: Delegation) => Promise<Device>]>([
    ["another device", () => secondDevice()],
    ["another agent", async () => t.device(await seller(t, 2))],
    ["its submitter", () => t.device(boss)],
  ])("by %s takes nothing from who has claimed it", async (_, stranger) => {
    const device = await t.device(worker);
    const task = await offered(device);
    await claimed(device, task);
    const other = await stranger(task);
    for (const type of ["refuse", "progress", "claim"] as const) {
      other.say({ type, task_id: task.task_id } as ClientMessage);
    }
    await quiet();
    expect(await statusOf(task)).toBe("claimed");
    device.say({ type: "result", task_id: task.task_id, receipt: { ...receiptOf(worker, task) } });
    await device.next("result_accepted");
  });
});

describe("progress", () => {
  test("is refused for a task that this device has not claimed", async () => {
    const device = await t.device(worker);
    const task = await offered(device);
    for (const task_id of [task.task_id, "unknown"]) {
      device.say({ type: "progress", task_id });
      expect(await device.next("error")).toMatchObject({ code: "task.not_found", task_id });
    }
  });
});

describe("a result over the socket", () => {
  test("is accepted, settles and ends the task; the same again is answered the same", async () => {
    const device = await t.device(worker);
    const task = await offered(device);
    await claimed(device, task);
    const receipt = { ...receiptOf(worker, task) };
    for (let i = 0; i < 2; i++) {
      device.say({ type: "result", task_id: task.task_id, receipt });
      expect(await device.next("result_accepted")).toEqual({
        type: "result_accepted",
        task_id: task.task_id,
        status: "completed",
      });
    }
    expect(await t.as(boss, "GET", task.path)).toMatchObject({
      body: { task: { status: "completed" }, receipt },
    });
    expect([await t.balance(boss), await t.balance(worker)]).toEqual([8, 1.9]);
    await expectConsistentBooks(t, { holds: 0, fees: 0.1 });
  });

  test.each(["failed", "denied"] as const)("that is %s gives the hold back", async (status) => {
    const device = await t.device(worker);
    const task = await offered(device);
    const receipt = { ...receiptOf(worker, task, { status }) };
    device.say({ type: "result", task_id: task.task_id, receipt });
    expect(await device.next("result_accepted")).toMatchObject({ status });
    expect([await t.balance(boss), await t.balance(worker)]).toEqual([10, 0]);
  });

  const wrong: [string, string, (task: Delegation, other: Delegation) => object][] = [
    ["is no receipt", "receipt.malformed", () => ({})],
    ["is another task's", "receipt.task_mismatch", (_, other) => receiptOf(worker, other)],
    [
      "was changed",
      "receipt.signature_invalid",
      (task) => ({ ...receiptOf(worker, task), tools_used: ["t"] }),
    ],
    ["is its submitter's", "receipt.wrong_agent", (task) => receiptOf(boss, task)],
    [
      "is out of time",
      "receipt.span",
      (task) => receiptOf(worker, task, { completed_at: task.submitted_at + 3_600_001 }),
    ],
  ];
  test.each(wrong)(
    "that %s is refused with %s; a right one is accepted then",
    async (_, code, make) => {
      const device = await t.device(worker);
      const [task, other] = [await offered(device), await offered(device)];
      await claimed(device, task);
      const before = await money();
      device.say({ type: "result", task_id: task.task_id, receipt: { ...make(task, other) } });
      expect(await device.next("result_refused")).toMatchObject({ task_id: task.task_id, code });
      expect(await money()).toEqual(before);
      // A device that is still connected keeps its claim, though its first receipt was refused.
      await t.pass(100_000);
      expect(await statusOf(task)).toBe("claimed");
      device.say({
        type: "result",
        task_id: task.task_id,
        receipt: { ...receiptOf(worker, task) },
      });
      await device.next("result_accepted");
    },
  );

  test("of another agent's task is refused, signed by whomever", async () => {
    const device = await t.device(worker);
    const other = await seller(t, 1);
    const task = await delegate(t, boss, other);
    for (const signer of [worker, other]) {
      const receipt = { ...receiptOf(signer, task) };
      device.say({ type: "result", task_id: task.task_id, receipt });
      expect(await device.next("result_refused")).toMatchObject({ code: "task.not_participant" });
    }
    device.say({ type: "result", task_id: "unknown", receipt: { ...receiptOf(worker, task) } });
    expect(await device.next("result_refused")).toMatchObject({ code: "task.not_found" });
  });

  test("RC3 two different ones at once: one wins whole", async () => {
    const [first, second] = [await t.device(worker), await secondDevice()];
    const task = await offered(first);
    await second.next("task_assigned");
    const { task_id } = task;
    const failed = receiptOf(worker, task, { status: "failed" });
    first.say({ type: "result", task_id, receipt: { ...receiptOf(worker, task) } });
    second.say({ type: "result", task_id, receipt: { ...failed } });
    const answers = [...(await first.rest()), ...(await second.rest())];
    expect(answers.filter(({ type }) => type === "result_accepted")).toHaveLength(1);
    expect(answers).toContainEqual(expect.objectContaining({ code: "task.already_finished" }));
    const status = await statusOf(task);
    expect(await t.balance(boss)).toBe(status === "completed" ? 8 : 10);
    await expectConsistentBooks(t);
  });
});

describe("a task that ends without its executor", () => {
  test("tells its executor's devices, and nobody else's, that it was cancelled", async () => {
    const devices = [await t.device(worker), await secondDevice()];
    const other = await t.device(boss);
    const { task_id, path } = await delegate(t, boss, worker);
    for (const device of devices) await device.next("task_assigned");
    await t.as(boss, "POST", `${path}/cancel`);
    for (const device of devices) {
      expect(await device.next("task_cancelled")).toEqual({ type: "task_cancelled", task_id });
    }
    expect(await other.rest()).toEqual([]);
  });

  test("tells them that it has expired", async () => {
    await delegate(t, boss, worker);
    await t.clock.advance(880_000);
    const device = await t.device(worker);
    const { task } = await device.next("task_assigned");
    await t.clock.advance(20_000);
    await t.relay.tick();
    expect(await device.next("task_cancelled")).toMatchObject({ task_id: task.task_id });
  });
});

test("whatever devices and submitter do at once, each task ends once and the books balance", async () => {
  await t.deposit(boss, 1_000);
  const devices = [await t.device(worker), await secondDevice(), await secondDevice()];
  const tasks = await Promise.all(Array.from({ length: 40 }, () => delegate(t, boss, worker)));
  await Promise.all(
    tasks.map(async (task, i) => {
      for (const [at, device] of devices.entries()) {
        device.say({ type: "claim", task_id: task.task_id });
        if ((i + at) % 5 === 0) device.say({ type: "refuse", task_id: task.task_id });
      }
      if (i % 3 === 0) await t.as(boss, "POST", `${task.path}/cancel`);
      const receipt = { ...receiptOf(worker, task, { result: String(i) }) };
      for (const device of devices) device.say({ type: "result", task_id: task.task_id, receipt });
    }),
  );
  const answers = (await Promise.all(devices.map((device) => device.rest()))).flat();
  const states = await Promise.all(tasks.map(statusOf));
  const completed = states.filter((state) => state === "completed").length;
  expect(completed).toBeGreaterThanOrEqual(26);
  expect(states.filter((state) => state === "cancelled")).toHaveLength(40 - completed);
  const claims = answers.flatMap((answer) => (answer.type === "claimed" ? [answer.task_id] : []));
  expect(claims.length).toBeGreaterThan(0);
  expect([await t.balance(boss), await t.balance(worker)]).toEqual([
    1_010 - 2 * completed,
    Math.round(190 * completed) / 100,
  ]);
  await expectConsistentBooks(t, { holds: 0 });
  expect(t.logged("ws.failed")).toEqual([]);
});
