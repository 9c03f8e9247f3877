import type { TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveTestRelay, type Device, type ServedRelay } from "../../test/devices.ts";
import { submitAcceptedTask, createSeller } from "../../test/market.ts";
import { OPERATOR_TOKEN, createReceipt } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await t.createAgent(), await createSeller(t, 0)];
});
afterEach(() => t.close());

const dial = async (agent: TestAgent): Promise<Device> =>
  t.connect(agent, { headers: { authorization: `Bearer ${await t.token(agent)}` } });

const assigned = (messages: readonly object[]) =>
  messages.map((message) =>
    "task" in message ? (message.task as { task_id: string }).task_id : message,
  );

describe("connecting devices", () => {
  test("a device that connects receives the number of pending tasks, then each task once, oldest first", async () => {
    const tasks = [];
    for (let i = 0; i < 45; i++) {
      tasks.push(await submitAcceptedTask(t, boss, worker, { prompt: `work ${i}` }));
      await t.clock.advance(1);
    }
    const device = await dial(worker);
    expect(await device.next("ready")).toMatchObject({ pending: 45 });
    const [first, ...rest] = [
      await device.next("task_assigned"),
      ...(await device.takeRemaining()),
    ];
    expect(first).toMatchObject({
      task: { prompt: "work 0", status: "pending", agent_id: worker.agentId, assigned_to: null },
      expires_at: t.clock.now() - 45 + 900_000,
    });
    expect(assigned([first, ...rest])).toEqual(tasks.map(({ task_id }) => task_id));
  });

  test("HO10 a device that connects receives no task that is claimed, finished, expired or another agent's", async () => {
    const expired = await submitAcceptedTask(t, boss, worker);
    await t.clock.advance(870_000);
    const names = ["claimed", "done", "cancelled", "pending", "others"] as const;
    const tasks = {} as Record<
      (typeof names)[number],
      Awaited<ReturnType<typeof submitAcceptedTask>>
    >;
    for (const name of names) {
      tasks[name] = await submitAcceptedTask(
        t,
        boss,
        name === "others" ? await createSeller(t, 0) : worker,
      );
    }
    const busy = await t.connectDevice(worker, OPERATOR_TOKEN);
    busy.send({ type: "claim", task_id: tasks.claimed.task_id });
    await busy.takeRemaining();
    const receipt = createReceipt(worker, tasks.done);
    expect(await t.as(worker, "POST", `${tasks.done.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
    expect(await t.as(boss, "POST", `${tasks.cancelled.path}/cancel`)).toMatchObject({
      status: 200,
    });
    // The task has expired, but has not been removed yet.
    await t.clock.advance(29_999);
    expect(await t.as(boss, "GET", expired.path)).toMatchObject({ status: 200 });
    await t.clock.advance(1);
    const device = await dial(worker);
    expect(await device.next("ready")).toMatchObject({ pending: 1 });
    expect(assigned(await device.takeRemaining())).toEqual([tasks.pending.task_id]);
  });

  test("a device that connects receives more than 4 MiB of waiting prompts without being cut off", async () => {
    const prompt = "x".repeat(limits.promptBytes);
    for (let i = 0; i < 24; i++) await submitAcceptedTask(t, boss, worker, { prompt });
    const device = await dial(worker);
    await device.next("ready");
    for (let i = 0; i < 24; i++) await device.next("task_assigned");
    expect(device.socket.readyState).toBe(device.socket.OPEN);
  });

  test("a device receives each task that is submitted during its connection exactly once", async () => {
    const early = await Promise.all(
      Array.from({ length: 30 }, () => submitAcceptedTask(t, boss, worker)),
    );
    const connecting = dial(worker);
    const late = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        await new Promise((resolve) => setTimeout(resolve, i / 2));
        return submitAcceptedTask(t, boss, worker);
      }),
    );
    const device = await connecting;
    await device.next("ready");
    // A process that did not know the device yet leaves the task to the check of each second.
    await t.advance(1_000);
    const received = assigned(await device.takeRemaining());
    const all = [...early, ...late].map(({ task_id }) => task_id);
    expect(received).toHaveLength(all.length);
    expect(new Set(received)).toEqual(new Set(all));
  });

  test("a device that connects is greeted with a count of at most 1,000, and receives all pending tasks", async () => {
    for (let by = 0; by < 3; by++) {
      const payer = await t.createAgent();
      await Promise.all(Array.from({ length: 400 }, () => submitAcceptedTask(t, payer, worker)));
    }
    const device = await dial(worker);
    expect(await device.next("ready")).toMatchObject({ pending: 1_000 });
    const received = new Set();
    while (received.size < 1_200) received.add((await device.next("task_assigned")).task.task_id);
    expect(await device.takeRemaining()).toEqual([]);
  });
});
