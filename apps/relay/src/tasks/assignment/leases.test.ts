import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  settleEventLoop,
  serveTestRelay,
  type Device,
  type ServedRelay,
} from "../../../test/devices.ts";
import {
  submitAcceptedTask,
  createSeller,
  getTaskStatus,
  type Delegation,
} from "../../../test/market.ts";
import { OPERATOR_TOKEN, createReceipt } from "../../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await t.createAgent(), await createSeller(t, 0)];
});
afterEach(() => t.close());

/** Connects a device of the worker that has claimed a task. */
async function claimant(): Promise<{ device: Device; task: Delegation }> {
  const device = await t.connectDevice(worker);
  const task = await submitAcceptedTask(t, boss, worker);
  await device.next("task_assigned");
  device.send({ type: "claim", task_id: task.task_id });
  await device.next("claimed");
  return { device, task };
}

async function leave(device: Device): Promise<void> {
  device.socket.terminate();
  await device.closed;
  await settleEventLoop();
}

const statusOf = (task: Delegation) => getTaskStatus(t, task);

describe("HO19 claims", () => {
  test("a claim lasts while its socket is open, even without a message of the device", async () => {
    const { device, task } = await claimant();
    for (let minutes = 0; minutes < 4; minutes++) {
      await t.advance(60_000);
      expect(await statusOf(task)).toBe("claimed");
    }
    device.send({
      type: "result",
      task_id: task.task_id,
      receipt: { ...createReceipt(worker, task) },
    });
    expect(await device.next("result_accepted")).toMatchObject({ status: "completed" });
  });

  test("a claim expires 60 s after its socket closed, and the task is pending again", async () => {
    const { device, task } = await claimant();
    await leave(device);
    await t.advance(59_000);
    expect(await statusOf(task)).toBe("claimed");
    await t.advance(6_000);
    expect(await statusOf(task)).toBe("pending");
    expect(t.listLogged("task.lease_lapsed")).toMatchObject([{ correlationId: task.task_id }]);
    const next = await t.connectDevice(worker);
    expect(await next.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
  });

  test("a claim is offered to the other devices of its agent as soon as it expires", async () => {
    const { device, task } = await claimant();
    await leave(device);
    await t.advance(50_000);
    const other = await t.connectDevice(worker, OPERATOR_TOKEN);
    expect(await other.takeRemaining()).toEqual([]);
    await t.advance(15_000);
    expect(await other.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
    other.send({ type: "claim", task_id: task.task_id });
    await other.next("claimed");
    expect(await other.takeRemaining()).toEqual([]);
  });

  test("a device that reconnects and reports progress keeps its claim, which then depends on the new socket", async () => {
    const { device, task } = await claimant();
    await leave(device);
    await t.advance(50_000);
    const again = await t.connectDevice(worker);
    expect(await again.takeRemaining()).toEqual([]);
    again.send({ type: "progress", task_id: task.task_id, note: "half" });
    await t.advance(120_000);
    expect(await statusOf(task)).toBe("claimed");
    expect(await again.takeRemaining()).toEqual([]);
  });

  test("a claim expires although the device reconnected, when it does not report on the task", async () => {
    const { device, task } = await claimant();
    await leave(device);
    const again = await t.connectDevice(worker);
    await t.advance(70_000);
    expect(await again.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
  });

  test("an expired claim does not prevent a late receipt of its executor", async () => {
    const { device, task } = await claimant();
    await leave(device);
    await t.advance(65_000);
    const receipt = createReceipt(worker, task);
    expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
  });

  test("a claim does not outlive its task, which expires like any other", async () => {
    const { task } = await claimant();
    await t.advance(900_000);
    expect(await t.as(boss, "GET", task.path)).toMatchObject({ status: 404 });
  });
});
