import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { quiet, serveTestRelay, type Device, type ServedRelay } from "../../test/devices.ts";
import { delegate, seller, taskAt, type Delegation } from "../../test/market.ts";
import { masterToken, receiptOf } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await t.agent(), await seller(t, 0)];
});
afterEach(() => t.close());

/** A device of the worker that has claimed a task. */
async function claimant(): Promise<{ device: Device; task: Delegation }> {
  const device = await t.device(worker);
  const task = await delegate(t, boss, worker);
  await device.next("task_assigned");
  device.say({ type: "claim", task_id: task.task_id });
  await device.next("claimed");
  return { device, task };
}

async function leave(device: Device): Promise<void> {
  device.socket.terminate();
  await device.closed;
  await quiet();
}

const statusOf = async ({ path }: Delegation) => (await taskAt(t, path)).status;

describe("HO19 a claim", () => {
  test("lasts while its socket is open, without a word of the device", async () => {
    const { device, task } = await claimant();
    for (let minutes = 0; minutes < 4; minutes++) {
      await t.pass(60_000);
      expect(await statusOf(task)).toBe("claimed");
    }
    device.say({ type: "result", task_id: task.task_id, receipt: { ...receiptOf(worker, task) } });
    expect(await device.next("result_accepted")).toMatchObject({ status: "completed" });
  });

  test("lapses 60 s after its socket is gone, and the task is pending again", async () => {
    const { device, task } = await claimant();
    await leave(device);
    await t.pass(59_000);
    expect(await statusOf(task)).toBe("claimed");
    await t.pass(6_000);
    expect(await statusOf(task)).toBe("pending");
    expect(t.logged("task.lease_lapsed")).toMatchObject([{ correlationId: task.task_id }]);
    const next = await t.device(worker);
    expect(await next.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
  });

  test("that lapses is offered to the other devices of its agent at once", async () => {
    const { device, task } = await claimant();
    await leave(device);
    await t.pass(50_000);
    const other = await t.device(worker, masterToken);
    expect(await other.rest()).toEqual([]);
    await t.pass(15_000);
    expect(await other.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
    other.say({ type: "claim", task_id: task.task_id });
    await other.next("claimed");
    expect(await other.rest()).toEqual([]);
  });

  test("is kept by a device that comes back and reports progress, and lives with its new socket", async () => {
    const { device, task } = await claimant();
    await leave(device);
    await t.pass(50_000);
    const again = await t.device(worker);
    expect(await again.rest()).toEqual([]);
    again.say({ type: "progress", task_id: task.task_id, note: "half" });
    await t.pass(120_000);
    expect(await statusOf(task)).toBe("claimed");
    expect(await again.rest()).toEqual([]);
  });

  test("lapses though the device came back, when it does not remember the task", async () => {
    const { device, task } = await claimant();
    await leave(device);
    const again = await t.device(worker);
    await t.pass(70_000);
    expect(await again.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
  });

  test("that lapsed does not keep a late receipt of its executor from being accepted", async () => {
    const { device, task } = await claimant();
    await leave(device);
    await t.pass(65_000);
    const receipt = receiptOf(worker, task);
    expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
  });

  test("does not outlive its task: it expires as any other", async () => {
    const { task } = await claimant();
    await t.pass(900_000);
    expect(await t.as(boss, "GET", task.path)).toMatchObject({ status: 404 });
  });
});
