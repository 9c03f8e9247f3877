import { createRelayClient, followTask, type FollowTaskOptions } from "@agent/client";
import { createSeededRandom, type TestAgent } from "@agent/testkit";
import type { Received, TaskEvent } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTruncatingProxy } from "../../test/network/truncating-proxy.ts";
import { settleEventLoop, serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  type Delegation,
} from "../../test/market.ts";
import { createReceipt } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
});
afterEach(() => t.close());

function follow({ task_id: taskId }: Delegation, more: Partial<FollowTaskOptions> = {}) {
  const world = { now: t.clock.now, ...createSeededRandom(4) };
  const client = createRelayClient({ baseUrl: t.baseUrl, identity: boss, ...world });
  return followTask({
    baseUrl: t.baseUrl,
    agentId: worker.agentId,
    taskId,
    bearer: () => client.getBearer("task:read"),
    // Without randomness there is no wait between two connections.
    randomBytes: (length) => new Uint8Array(length),
    ...more,
  });
}

async function toEnd(following: ReturnType<typeof follow>): Promise<Received<typeof TaskEvent>[]> {
  const events: Received<typeof TaskEvent>[] = [];
  for await (const step of following) {
    if (!step.ok) throw new Error(step.code);
    events.push(step.event);
  }
  return events;
}

const deliver = (task: Delegation) =>
  t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));

test("the client follows a task from its submission to its end", async () => {
  const device = await t.connectDevice(worker);
  const task = await submitAcceptedTask(t, boss, worker);
  await device.next("task_assigned");
  const following = toEnd(follow(task));
  device.send({ type: "claim", task_id: task.task_id });
  await device.next("claimed");
  device.send({ type: "progress", task_id: task.task_id, note: "half way" });
  await settleEventLoop();
  await deliver(task);
  expect(await following).toMatchObject([
    { event_id: 1, type: "submitted" },
    { event_id: 2, type: "claimed" },
    { event_id: 3, type: "progress", note: "half way" },
    { event_id: 4, type: "completed" },
  ]);
  expect(await toEnd(follow(task, { after: 4 }))).toEqual([]);
});

test("the client continues with a new token when its own has ended", async () => {
  const task = await submitAcceptedTask(t, boss, worker);
  const following = toEnd(follow(task));
  await settleEventLoop();
  await t.advance(300_000);
  await settleEventLoop();
  await deliver(task);
  expect((await following).map(({ type }) => type)).toEqual(["submitted", "completed"]);
});

test("the client is told that a task expired, and why it may not follow a task", async () => {
  const task = await submitAcceptedTask(t, boss, worker);
  const following = toEnd(follow(task));
  await settleEventLoop();
  await t.advance(900_000);
  await t.relay.tick();
  expect((await following).map(({ type }) => type)).toEqual(["submitted", "expired"]);
  await expect(toEnd(follow(task))).rejects.toThrow("task.not_found");
  const stranger = await t.createAgent();
  const bearer = async () => ({ ok: true as const, token: await t.token(stranger) });
  const another = await submitAcceptedTask(t, boss, worker);
  await expect(toEnd(follow(another, { bearer }))).rejects.toThrow("task.not_participant");
});

test("the client neither loses nor repeats an event over a connection that is cut 200 times at random bytes", async () => {
  const device = await t.connectDevice(worker);
  const task = await submitAcceptedTask(t, boss, worker);
  await device.next("task_assigned");
  device.send({ type: "claim", task_id: task.task_id });
  await device.next("claimed");
  const { randomBytes } = createSeededRandom(5);
  const room = () => {
    const [a = 0, b = 0] = randomBytes(2);
    return line.cuts() < 200 ? ((a << 8) | b) % 1_500 : Infinity;
  };
  const line = await startTruncatingProxy(Number(new URL(t.baseUrl).port), room);
  try {
    const following = toEnd(follow(task, { baseUrl: line.url }));
    let notes = 0;
    while (line.cuts() < 200) {
      // A task stores at most a thousand notes.
      if (notes < 900) {
        notes += 1;
        device.send({ type: "progress", task_id: task.task_id, note: `note ${notes}` });
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await settleEventLoop();
    await deliver(task);
    const events = await following;
    expect(events.map(({ event_id }) => event_id)).toEqual(events.map((_, index) => index + 1));
    const notesSeen = events.flatMap(({ type, note }) => (type === "progress" ? [note] : []));
    expect(notesSeen).toEqual(Array.from({ length: notes }, (_, index) => `note ${index + 1}`));
    expect(events.at(-1)).toMatchObject({ type: "completed" });
  } finally {
    await line.close();
  }
});
