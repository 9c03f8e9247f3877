import type { TestAgent } from "@agent/testkit";
import type { ClientMessage } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  settleEventLoop,
  serveTestRelay,
  type Device,
  type ServedRelay,
} from "../../test/devices.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createSeller,
  getTaskStatus,
  type Delegation,
} from "../../test/market.ts";
import { OPERATOR_TOKEN, createReceipt } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
});
afterEach(() => t.close());

/**
 * Connects a second worker of the same agent: the operator's socket belongs to no device.
 */
const secondDevice = () => t.connectDevice(worker, OPERATOR_TOKEN);

/** Lets the worker's device announce a capability and then lose its connection. */
async function announceAndLeave(): Promise<void> {
  const device = await t.connectDevice(worker);
  device.send({ type: "capabilities", capabilities: ["summarise"] });
  await settleEventLoop();
  device.socket.terminate();
  await device.closed;
  await settleEventLoop();
}

async function claimed(device: Device, { task_id }: Delegation): Promise<void> {
  device.send({ type: "claim", task_id });
  expect(await device.next("claimed")).toMatchObject({ task_id });
}

async function offered(device: Device): Promise<Delegation> {
  const task = await submitAcceptedTask(t, boss, worker);
  expect((await device.next("task_assigned")).task.task_id).toBe(task.task_id);
  return task;
}

const money = async () =>
  (await getAgentStates(t, [boss, worker])).map(({ balance, transactions }) => [
    balance,
    transactions,
  ]);

const statusOf = (task: Delegation) => getTaskStatus(t, task);

describe("a task that is submitted while devices are connected", () => {
  test("a submitted task is sent to all devices of its executor and to no others", async () => {
    const [first, second] = [await t.connectDevice(worker), await secondDevice()];
    const others = [await t.connectDevice(boss), await t.connectDevice(await createSeller(t, 2))];
    const task = await submitAcceptedTask(t, boss, worker, { prompt: "count" });
    const expected = {
      task: { task_id: task.task_id, agent_id: worker.agentId, prompt: "count", assigned_to: null },
      expires_at: task.submitted_at + 900_000,
    };
    for (const device of [first, second]) {
      expect(await device.next("task_assigned")).toMatchObject(expected);
    }
    for (const other of others) expect(await other.takeRemaining()).toEqual([]);
  });

  test("B7: a task with required capabilities goes only to devices that announced them", async () => {
    const able = await t.connectDevice(worker);
    const unable = await secondDevice();
    const silent = await secondDevice();
    able.send({ type: "capabilities", capabilities: ["translate", "summarise"] });
    unable.send({ type: "capabilities", capabilities: ["translate"] });
    await settleEventLoop();
    await submitAcceptedTask(t, boss, worker, { required_capabilities: ["summarise"] });
    await able.next("task_assigned");
    expect([await unable.takeRemaining(), await silent.takeRemaining()]).toEqual([[], []]);
    const free = await submitAcceptedTask(t, boss, worker);
    for (const device of [able, unable, silent]) {
      expect((await device.next("task_assigned")).task.task_id).toBe(free.task_id);
    }
  });

  test("B7: a task with required capabilities goes to all devices of an agent if none of them announced any", async () => {
    const [first, second] = [await t.connectDevice(worker), await secondDevice()];
    const another = await t.connectDevice(boss);
    another.send({ type: "capabilities", capabilities: ["summarise"] });
    await settleEventLoop();
    const task = await submitAcceptedTask(t, boss, worker, {
      required_capabilities: ["summarise"],
    });
    for (const device of [first, second]) {
      expect((await device.next("task_assigned")).task.task_id).toBe(task.task_id);
    }
  });

  test("B7: a task waits for the device that announced the capability, though another one is connected", async () => {
    await announceAndLeave();
    const silent = await secondDevice();
    const task = await submitAcceptedTask(t, boss, worker, {
      required_capabilities: ["summarise"],
    });
    expect(await silent.takeRemaining()).toEqual([]);
    // The earlier announcement of a device counts from its reconnection on, before it sends a message.
    const again = await t.connectDevice(worker);
    expect((await again.next("task_assigned")).task.task_id).toBe(task.task_id);
    expect(await again.takeRemaining()).toEqual([]);
    silent.send({ type: "capabilities", capabilities: ["summarise"] });
    expect((await silent.next("task_assigned")).task.task_id).toBe(task.task_id);
  });

  test("B7: a silent device that connects later gets only the waiting tasks without required capabilities", async () => {
    await announceAndLeave();
    const required = await submitAcceptedTask(t, boss, worker, {
      required_capabilities: ["summarise"],
    });
    const free = await submitAcceptedTask(t, boss, worker);
    const silent = await secondDevice();
    expect((await silent.next("task_assigned")).task.task_id).toBe(free.task_id);
    expect(await silent.takeRemaining()).toEqual([]);
    const again = await t.connectDevice(worker);
    const received = [
      (await again.next("task_assigned")).task.task_id,
      (await again.next("task_assigned")).task.task_id,
    ];
    // Tasks that were submitted in one millisecond are in no order.
    expect(received.toSorted()).toEqual([required.task_id, free.task_id].toSorted());
  });

  test("B7: a task is sent once to a device that repeats its earlier announcement immediately", async () => {
    await announceAndLeave();
    const tasks = [
      await submitAcceptedTask(t, boss, worker, { required_capabilities: ["summarise"] }),
      await submitAcceptedTask(t, boss, worker),
    ];
    const again = await t.connectDevice(worker);
    again.send({ type: "capabilities", capabilities: ["summarise"] });
    const received = await again.takeRemaining();
    const receivedIds = received.flatMap((message) =>
      "task" in message ? [message.task.task_id] : [],
    );
    expect(receivedIds.toSorted()).toEqual(tasks.map(({ task_id }) => task_id).toSorted());
  });

  test("a task is sent to a device that announces the capability later", async () => {
    const device = await t.connectDevice(worker);
    device.send({ type: "capabilities", capabilities: ["translate"] });
    await settleEventLoop();
    const task = await submitAcceptedTask(t, boss, worker, {
      required_capabilities: ["summarise"],
    });
    await submitAcceptedTask(t, boss, worker);
    await device.next("task_assigned");
    device.send({ type: "capabilities", capabilities: ["translate", "summarise"] });
    expect(await device.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
    expect(await device.takeRemaining()).toEqual([]);
  });
});

describe("claims", () => {
  test("a claim is confirmed with its lease of 60 s, and the task is shown as claimed", async () => {
    const device = await t.connectDevice(worker);
    const task = await offered(device);
    const waiting = t.as(boss, "GET", `${task.path}?wait=60`);
    await settleEventLoop();
    device.send({ type: "claim", task_id: task.task_id });
    expect(await device.next("claimed")).toEqual({
      type: "claimed",
      task_id: task.task_id,
      lease_until: t.clock.now() + 60_000,
    });
    expect((await waiting).body).toMatchObject({ task: { status: "claimed" } });
  });

  test("a claim of several devices is granted to one of them and refused to the others", async () => {
    const devices = [await t.connectDevice(worker), await secondDevice(), await secondDevice()];
    const task = await submitAcceptedTask(t, boss, worker);
    for (const device of devices) await device.next("task_assigned");
    for (const device of devices) device.send({ type: "claim", task_id: task.task_id });
    const answers = await Promise.all(devices.map((device) => device.takeRemaining()));
    const types = answers.flat().map(({ type }) => type);
    expect(types.toSorted((a, b) => a.localeCompare(b))).toEqual(["claimed", "error", "error"]);
    expect(answers.flat()).toContainEqual({
      type: "error",
      code: "task.not_pending",
      message: "Task is no longer pending",
      task_id: task.task_id,
    });
  });

  test("D26: of two processes with one key only one gets a task, and the other one cannot give it up", async () => {
    const [first, second] = [await t.connectDevice(worker), await t.connectDevice(worker)];
    const task = await offered(first);
    await second.next("task_assigned");
    await claimed(first, task);
    const { task_id } = task;
    for (const type of ["claim", "release", "refuse"] as const) {
      second.send({ type, task_id } as ClientMessage);
      expect(await second.next("error")).toMatchObject({ code: "task.other_process", task_id });
    }
    await t.as(boss, "POST", `${task.path}/cancel`);
    await second.next("cancel_requested");
    second.send({ type: "release", task_id });
    expect(await second.next("error")).toMatchObject({ code: "task.other_process" });
    expect(await statusOf(task)).toBe("claimed");
    await first.next("cancel_requested");
    first.send({ type: "release", task_id });
    await first.next("task_cancelled");
  });

  test("D26: a restarted process gets its task again while its old socket still seems open", async () => {
    const old = await t.connectDevice(worker);
    const task = await offered(old);
    await claimed(old, task);
    await t.clock.advance(1);
    await claimed(await t.connectDevice(worker), task);
    expect(await statusOf(task)).toBe("claimed");
  });

  test("a claim is refused for a task that is no longer pending", async () => {
    const device = await t.connectDevice(worker);
    const done = await offered(device);
    const cancelled = await offered(device);
    const expired = await offered(device);
    await t.as(worker, "POST", `${done.path}/result`, createReceipt(worker, done));
    await t.as(boss, "POST", `${cancelled.path}/cancel`);
    await device.next("task_cancelled");
    await t.clock.advance(899_999);
    const late = await t.connectDevice(worker);
    await late.next("task_assigned");
    await t.clock.advance(1);
    for (const { task_id } of [done, cancelled, expired, { task_id: "unknown" }]) {
      late.send({ type: "claim", task_id });
      // The relay may also report that the task has expired.
      const answers = (await late.takeRemaining()).filter(({ type }) => type === "error");
      expect(answers).toMatchObject([{ code: "task.not_pending", task_id }]);
    }
    const other = await submitAcceptedTask(t, boss, await createSeller(t, 1));
    late.send({ type: "claim", task_id: other.task_id });
    expect(await late.next("error")).toMatchObject({ code: "task.not_pending" });
    expect(await statusOf(other)).toBe("pending");
  });
});

describe("refusals", () => {
  test("a refusal releases a claimed task, and another device may claim it", async () => {
    const [first, second] = [await t.connectDevice(worker), await secondDevice()];
    const task = await offered(first);
    await second.next("task_assigned");
    await claimed(first, task);
    first.send({ type: "refuse", task_id: task.task_id, reason: "busy" });
    await settleEventLoop();
    expect(await statusOf(task)).toBe("pending");
    expect(t.listLogged("task.refused")).toMatchObject([
      { correlationId: task.task_id, reason: "busy" },
    ]);
    await claimed(second, task);
  });

  test.each<[string, (task: Delegation) => Promise<Device>]>([
    ["another device", () => secondDevice()],
    ["another agent", async () => t.connectDevice(await createSeller(t, 2))],
    ["its submitter", () => t.connectDevice(boss)],
  ])("a refusal by %s does not release another device's claim", async (_, stranger) => {
    const device = await t.connectDevice(worker);
    const task = await offered(device);
    await claimed(device, task);
    const other = await stranger(task);
    for (const type of ["refuse", "progress", "claim"] as const) {
      other.send({ type, task_id: task.task_id } as ClientMessage);
    }
    await settleEventLoop();
    expect(await statusOf(task)).toBe("claimed");
    device.send({
      type: "result",
      task_id: task.task_id,
      receipt: { ...createReceipt(worker, task) },
    });
    await device.next("result_accepted");
  });
});

describe("progress", () => {
  test("progress is refused for a task that this device has not claimed", async () => {
    const device = await t.connectDevice(worker);
    const task = await offered(device);
    for (const task_id of [task.task_id, "unknown"]) {
      device.send({ type: "progress", task_id });
      expect(await device.next("error")).toMatchObject({ code: "task.not_found", task_id });
    }
  });
});

describe("results over the socket", () => {
  test("a result over the socket settles and ends its task, and gets the same answer when it is sent again", async () => {
    const device = await t.connectDevice(worker);
    const task = await offered(device);
    await claimed(device, task);
    const receipt = { ...createReceipt(worker, task) };
    for (let i = 0; i < 2; i++) {
      device.send({ type: "result", task_id: task.task_id, receipt });
      expect(await device.next("result_accepted")).toEqual({
        type: "result_accepted",
        task_id: task.task_id,
        status: "completed",
      });
    }
    expect(await t.as(boss, "GET", task.path)).toMatchObject({
      body: { task: { status: "completed" }, receipt },
    });
    expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([8, 1.9]);
    await expectConsistentBooks(t, { holds: 0, fees: 0.1 });
  });

  test.each(["failed", "denied"] as const)(
    "a %s result over the socket returns the hold",
    async (status) => {
      const device = await t.connectDevice(worker);
      const task = await offered(device);
      const receipt = { ...createReceipt(worker, task, { status }) };
      device.send({ type: "result", task_id: task.task_id, receipt });
      expect(await device.next("result_accepted")).toMatchObject({ status });
      expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([10, 0]);
    },
  );

  const wrong: [string, string, (task: Delegation, other: Delegation) => object][] = [
    ["is no receipt", "receipt.malformed", () => ({})],
    ["is another task's", "receipt.task_mismatch", (_, other) => createReceipt(worker, other)],
    [
      "was changed",
      "receipt.signature_invalid",
      (task) => ({ ...createReceipt(worker, task), tools_used: ["t"] }),
    ],
    ["is its submitter's", "receipt.wrong_agent", (task) => createReceipt(boss, task)],
    [
      "is out of time",
      "receipt.span",
      (task) => createReceipt(worker, task, { completed_at: task.submitted_at + 3_600_001 }),
    ],
  ];
  test.each(wrong)(
    "a result that %s is refused with %s; a correct one is accepted afterwards",
    async (_, code, make) => {
      const device = await t.connectDevice(worker);
      const [task, other] = [await offered(device), await offered(device)];
      await claimed(device, task);
      const before = await money();
      device.send({ type: "result", task_id: task.task_id, receipt: { ...make(task, other) } });
      expect(await device.next("result_refused")).toMatchObject({ task_id: task.task_id, code });
      expect(await money()).toEqual(before);
      // A connected device keeps its claim, though its first receipt was refused.
      await t.advance(100_000);
      expect(await statusOf(task)).toBe("claimed");
      device.send({
        type: "result",
        task_id: task.task_id,
        receipt: { ...createReceipt(worker, task) },
      });
      await device.next("result_accepted");
    },
  );

  test("a result over the socket is refused for another agent's task, under any signature", async () => {
    const device = await t.connectDevice(worker);
    const other = await createSeller(t, 1);
    const task = await submitAcceptedTask(t, boss, other);
    for (const signer of [worker, other]) {
      const receipt = { ...createReceipt(signer, task) };
      device.send({ type: "result", task_id: task.task_id, receipt });
      expect(await device.next("result_refused")).toMatchObject({ code: "task.not_participant" });
    }
    device.send({
      type: "result",
      task_id: "unknown",
      receipt: { ...createReceipt(worker, task) },
    });
    expect(await device.next("result_refused")).toMatchObject({ code: "task.not_found" });
  });

  test("RC3 exactly one of two different concurrent results takes effect, and it does so entirely", async () => {
    const [first, second] = [await t.connectDevice(worker), await secondDevice()];
    const task = await offered(first);
    await second.next("task_assigned");
    const { task_id } = task;
    const failed = createReceipt(worker, task, { status: "failed" });
    first.send({ type: "result", task_id, receipt: { ...createReceipt(worker, task) } });
    second.send({ type: "result", task_id, receipt: { ...failed } });
    const answers = [...(await first.takeRemaining()), ...(await second.takeRemaining())];
    expect(answers.filter(({ type }) => type === "result_accepted")).toHaveLength(1);
    expect(answers).toContainEqual(expect.objectContaining({ code: "task.already_finished" }));
    const status = await statusOf(task);
    expect(await t.getBalance(boss)).toBe(status === "completed" ? 8 : 10);
    await expectConsistentBooks(t);
  });
});

describe("tasks that end without their executor", () => {
  test("a cancelled task is reported to its executor's devices, and to no others", async () => {
    const devices = [await t.connectDevice(worker), await secondDevice()];
    const other = await t.connectDevice(boss);
    const { task_id, path } = await submitAcceptedTask(t, boss, worker);
    for (const device of devices) await device.next("task_assigned");
    await t.as(boss, "POST", `${path}/cancel`);
    for (const device of devices) {
      expect(await device.next("task_cancelled")).toEqual({ type: "task_cancelled", task_id });
    }
    expect(await other.takeRemaining()).toEqual([]);
  });

  test("an expired task is reported to its executor's devices", async () => {
    await submitAcceptedTask(t, boss, worker);
    await t.clock.advance(880_000);
    const device = await t.connectDevice(worker);
    const { task } = await device.next("task_assigned");
    await t.clock.advance(20_000);
    await t.relay.tick();
    expect(await device.next("task_cancelled")).toMatchObject({ task_id: task.task_id });
  });
});

test("each task ends once and the books balance, whatever messages devices and the submitter send", async () => {
  await t.deposit(boss, 1_000);
  const devices = [await t.connectDevice(worker), await secondDevice(), await secondDevice()];
  const tasks = await Promise.all(
    Array.from({ length: 40 }, () => submitAcceptedTask(t, boss, worker)),
  );
  await Promise.all(
    tasks.map(async (task, i) => {
      for (const [at, device] of devices.entries()) {
        device.send({ type: "claim", task_id: task.task_id });
        if ((i + at) % 5 === 0) device.send({ type: "refuse", task_id: task.task_id });
      }
      if (i % 3 === 0) await t.as(boss, "POST", `${task.path}/cancel`);
      const receipt = { ...createReceipt(worker, task, { result: String(i) }) };
      for (const device of devices) device.send({ type: "result", task_id: task.task_id, receipt });
    }),
  );
  const answers = (await Promise.all(devices.map((device) => device.takeRemaining()))).flat();
  const states = await Promise.all(tasks.map(statusOf));
  const completed = states.filter((state) => state === "completed").length;
  expect(completed).toBeGreaterThanOrEqual(26);
  expect(states.filter((state) => state === "cancelled")).toHaveLength(40 - completed);
  const claims = answers.flatMap((answer) => (answer.type === "claimed" ? [answer.task_id] : []));
  expect(claims.length).toBeGreaterThan(0);
  expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([
    1_010 - 2 * completed,
    Math.round(190 * completed) / 100,
  ]);
  await expectConsistentBooks(t, { holds: 0 });
  expect(t.listLogged("ws.failed")).toEqual([]);
});
