import { afterEach, beforeEach, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import {
  createParties,
  deliver,
  giveVerdict,
  type Parties,
  putOffer,
} from "../../test/inspections.ts";
import { createBuyer, type Delegation, getTaskAt, submitAcceptedTask } from "../../test/market.ts";
import { createReceipt } from "../../test/test-relay.ts";

let t: ServedRelay;
/** The worker offers one inspection at a time. */
let parties: Parties;
beforeEach(async () => {
  t = await serveTestRelay();
  parties = await createParties(t);
  await t.deposit(parties.boss, 100);
  await putOffer(t, parties.worker, { max_open: 1 });
});
afterEach(() => t.close());

/** Creates an executor that ranks first, because it has worked for the submitter before. */
async function createFirst(max_open?: number) {
  const first = await createBuyer(t, 1);
  await putOffer(t, first, { ...(max_open !== undefined && { max_open }) });
  const before = await submitAcceptedTask(t, parties.boss, first);
  await t.as(first, "POST", `${before.path}/result`, createReceipt(first, before));
  return first;
}

/** Waits until the relay has moved the tasks that were refused. */
async function settleRefusals(count: number): Promise<void> {
  await expect.poll(() => t.listLogged("task.refused")).toHaveLength(count);
  await t.relay.idle();
}

const listAssigned = (tasks: readonly Delegation[]) =>
  Promise.all(tasks.map(async ({ path }) => (await getTaskAt(t, path)).assigned_to));

const wanted = { required_capabilities: ["summarise"], acceptance: {} };

test("IS25: refusals of other executors do not assign an executor more inspected tasks than it offers", async () => {
  const { boss, worker } = parties;
  const first = await createFirst();
  const [accomplice, device] = [await t.connectDevice(first), await t.connectDevice(worker)];
  const tasks: Delegation[] = [];
  for (let count = 0; count < 3; count += 1) {
    tasks.push(await submitAcceptedTask(t, boss, first, wanted));
    await accomplice.next("task_assigned");
  }
  const ids = tasks.map(({ task_id }) => task_id);
  for (const task_id of ids) accomplice.send({ type: "refuse", task_id });
  await settleRefusals(3);
  // Any of them may come first.
  const { task } = await device.next("task_assigned");
  expect(await device.takeRemaining()).toEqual([]);
  const assigned = await listAssigned(tasks);
  expect(assigned.filter((id) => id !== null)).toEqual([worker.agentId]);
  expect(ids.indexOf(task.task_id)).toBe(assigned.indexOf(worker.agentId));
});

test("IS25: an executor gets back only as many tasks that waited with others as it offers", async () => {
  const { boss, worker } = parties;
  const first = await createFirst(1);
  // The first executor cannot be reached, so each of its tasks goes to the worker of another owner.
  await putOffer(t, worker);
  const device = await t.connectDevice(worker);
  const tasks: Delegation[] = [];
  for (let count = 0; count < 3; count += 1) {
    tasks.push(await submitAcceptedTask(t, boss, first, wanted));
    await device.next("task_assigned");
  }
  for (const { task_id } of tasks) device.send({ type: "refuse", task_id });
  await settleRefusals(3);
  const assigned = await listAssigned(tasks);
  expect(assigned.filter((id) => id === null)).toHaveLength(1);

  const [back] = tasks.filter((_, at) => assigned[at] === null);
  const [other] = tasks.filter((_, at) => assigned[at] !== null);
  const given = await deliver(t, { ...parties, worker: first, task: back!, receiptHash: "" });
  await giveVerdict(t, given, "accepted");
  device.send({ type: "refuse", task_id: other!.task_id });
  await settleRefusals(4);
  expect((await listAssigned(tasks)).filter((id) => id === null)).toHaveLength(2);
});
