import { createSeededRandom, type TestAgent } from "@agent/testkit";
import type { Task, TaskEvent } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { settleEventLoop, serveTestRelay, type ServedRelay } from "../../../test/devices.ts";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  getTaskAt,
  type Delegation,
} from "../../../test/market.ts";
import { OPERATOR_TOKEN, createReceipt } from "../../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
});
afterEach(() => t.close());

/** Reads a stream to its end, or until it is cut off after `cutAfterMs`. */
async function read(
  { path }: Delegation,
  {
    after = 0,
    cutAfterMs,
    by = boss,
    token,
  }: { after?: number; cutAfterMs?: number; by?: TestAgent; token?: string } = {},
): Promise<{ events: TaskEvent[]; type: string | null; ended: boolean }> {
  const authorization = `Bearer ${token ?? (await t.token(by))}`;
  const stop = new AbortController();
  const cut = cutAfterMs === undefined ? undefined : setTimeout(() => stop.abort(), cutAfterMs);
  let type: string | null = null;
  let text = "";
  let ended = true;
  const decoder = new TextDecoder();
  try {
    const answer = await fetch(`${t.baseUrl}${path}/events`, {
      headers: { authorization, ...(after > 0 && { "last-event-id": String(after) }) },
      signal: stop.signal,
    });
    type = answer.headers.get("content-type");
    for await (const piece of answer.body ?? []) text += decoder.decode(piece, { stream: true });
  } catch {
    ended = false;
  } finally {
    clearTimeout(cut);
  }
  // An event that was cut off in the middle was not received.
  const whole = text.slice(0, text.lastIndexOf("\n\n") + 2).split("\n\n");
  const events = whole.flatMap((block) => {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    return data === undefined ? [] : [JSON.parse(data) as TaskEvent];
  });
  return { events, type, ended };
}

const deliver = (task: Delegation) =>
  t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));

describe("events of a task", () => {
  test("a task's events are numbered from the submission to the end, which closes the stream", async () => {
    const device = await t.connectDevice(worker);
    const task = await submitAcceptedTask(t, boss, worker);
    await device.next("task_assigned");
    const reading = read(task);
    device.send({ type: "claim", task_id: task.task_id });
    await device.next("claimed");
    device.send({ type: "progress", task_id: task.task_id, note: "half way" });
    device.send({ type: "progress", task_id: task.task_id });
    await settleEventLoop();
    await deliver(task);
    const { events, type, ended } = await reading;
    expect([type, ended]).toEqual(["text/event-stream", true]);
    const at = t.clock.now();
    const { task_id } = task;
    expect(events).toEqual([
      { event_id: 1, type: "submitted", at, task_id },
      { event_id: 2, type: "claimed", at, task_id },
      { event_id: 3, type: "progress", at, task_id, note: "half way" },
      { event_id: 4, type: "completed", at, task_id },
    ]);
  });

  test("a task's events have the same numbers in a poll, a list and on a socket", async () => {
    const device = await t.connectDevice(worker);
    const task = await submitAcceptedTask(t, boss, worker);
    expect(await device.next("task_assigned")).toMatchObject({ task: { event_id: 1 } });
    device.send({ type: "claim", task_id: task.task_id });
    await device.next("claimed");
    expect(await getTaskAt(t, task.path)).toMatchObject({ event_id: 2 });
    const { body } = await t.as(boss, "GET", `/agent/${boss.agentId}/tasks?submitted_by=me`);
    expect((body["tasks"] as Task[])[0]).toMatchObject({ event_id: 2 });
    await deliver(task);
    expect(await getTaskAt(t, task.path)).toMatchObject({ event_id: 3, status: "completed" });
    expect((await read(task)).events.at(-1)).toMatchObject({ event_id: 3 });
  });

  test("a long poll of a task ends at once if the caller has missed an event", async () => {
    const device = await t.connectDevice(worker);
    const task = await submitAcceptedTask(t, boss, worker);
    await device.next("task_assigned");
    device.send({ type: "claim", task_id: task.task_id });
    await device.next("claimed");
    const missed = await t.as(boss, "GET", `${task.path}?wait=60&after=1`);
    expect(missed.body["task"]).toMatchObject({ event_id: 2 });
    const waiting = t.as(boss, "GET", `${task.path}?wait=60&after=2`);
    await settleEventLoop();
    await deliver(task);
    expect((await waiting).body["task"]).toMatchObject({ event_id: 3 });
  });

  test("a task's events include the release of a claim and the expiry of the task", async () => {
    const device = await t.connectDevice(worker);
    const task = await submitAcceptedTask(t, boss, worker);
    await device.next("task_assigned");
    const reading = read(task);
    device.send({ type: "claim", task_id: task.task_id });
    await device.next("claimed");
    device.send({ type: "refuse", task_id: task.task_id });
    await settleEventLoop();
    const cancelled = await t.as(boss, "POST", `${task.path}/cancel`);
    expect(cancelled.status).toBe(200);
    const { events } = await reading;
    expect(events.map(({ type }) => type)).toEqual([
      "submitted",
      "claimed",
      "released",
      "cancelled",
    ]);
    const other = await submitAcceptedTask(t, boss, worker);
    const until = read(other, { token: "test-master-token-0123456789" });
    await settleEventLoop();
    await t.advance(900_000);
    await t.relay.tick();
    expect((await until).events.map(({ event_id, type }) => [event_id, type])).toEqual([
      [1, "submitted"],
      [2, "expired"],
    ]);
  });

  test("a task's events reach a client that is cut off 200 times exactly once each", async () => {
    const device = await t.connectDevice(worker);
    const task = await submitAcceptedTask(t, boss, worker);
    await device.next("task_assigned");
    device.send({ type: "claim", task_id: task.task_id });
    await device.next("claimed");
    const random = createSeededRandom(3).randomBytes;
    const token = await t.token(boss);
    const seen: TaskEvent[] = [];
    let [cuts, notes] = [0, 0];
    for (let done = false; !done;) {
      for (let more = (random(1)[0] ?? 0) % 3; more > 0 && notes < 150; more -= 1) {
        notes += 1;
        device.send({ type: "progress", task_id: task.task_id, note: `note ${notes}` });
      }
      if (cuts === 200) await deliver(task);
      const after = seen.at(-1)?.event_id ?? 0;
      const cut = cuts < 200 && { cutAfterMs: (random(1)[0] ?? 0) % 12 };
      const part = await read(task, { after, token, ...cut });
      seen.push(...part.events);
      if (part.ended) done = true;
      else cuts += 1;
    }
    expect(cuts).toBe(200);
    expect(seen.map(({ event_id }) => event_id)).toEqual(seen.map((_, index) => index + 1));
    const notesSeen = seen.filter(({ type }) => type === "progress").map(({ note }) => note);
    expect(notesSeen).toEqual(Array.from({ length: notes }, (_, index) => `note ${index + 1}`));
    expect(seen.at(-1)).toMatchObject({ type: "completed" });
  });

  test("a task's events are refused to agents that do not take part in the task", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const refused = await t.as(await t.createAgent(), "GET", `${task.path}/events`);
    expect(refused).toMatchObject({ status: 403, body: { code: "task.not_participant" } });
  });

  test("a request for events after a task's last one is answered with 204, so that clients do not reconnect", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const from = (after: number) =>
      t.request("GET", `${task.path}/events`, { token: OPERATOR_TOKEN, headers: idOf(after) });
    const idOf = (after: number) => ({ "last-event-id": String(after) });
    await deliver(task);
    const { event_id = 0 } = await getTaskAt(t, task.path);
    expect(await from(event_id - 1)).toMatchObject({ status: 200 });
    for (const after of [event_id, event_id + 1]) {
      const { status, text, headers } = await from(after);
      expect([status, text, headers.get("content-type")]).toEqual([204, "", null]);
    }
  });

  test("a task's events end with the token, so that the client must get a new one", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const overdue = read(task);
    await settleEventLoop();
    await t.advance(300_000);
    await settleEventLoop();
    expect(await overdue).toMatchObject({ ended: true, events: [{ type: "submitted" }] });
  });

  test("a task's events end when the relay shuts down", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const open = read(task);
    await settleEventLoop();
    const stopping = t.stop();
    expect(await open).toMatchObject({ ended: true, events: [{ event_id: 1 }] });
    // Idle connections are checked for every 50 ms.
    await t.clock.advance(100);
    await stopping;
  });
});

describe("the events of a task that goes to the next executor", () => {
  const summarise = { required_capabilities: ["summarise"] };
  let target: TestAgent;
  let task: Delegation;
  let former: TestAgent;
  let next: TestAgent;
  let reassign: () => Promise<void>;
  beforeEach(async () => {
    target = await t.createAgent();
    const other = await createSeller(t, 2);
    const [one, two] = [await t.connectDevice(worker), await t.connectDevice(other)];
    task = await submitAcceptedTask(t, boss, target, summarise);
    const isFirst = (await getTaskAt(t, task.path)).assigned_to === worker.agentId;
    [former, next] = isFirst ? [worker, other] : [other, worker];
    reassign = async () => {
      (isFirst ? one : two).send({ type: "refuse", task_id: task.task_id });
      await settleEventLoop();
      const device = isFirst ? two : one;
      device.send({ type: "claim", task_id: task.task_id });
      device.send({ type: "progress", task_id: task.task_id, note: "a note of the next one" });
      await settleEventLoop();
    };
  });

  const subscribe = async (by: TestAgent) => {
    const answer = await fetch(`${t.baseUrl}/a2a/${target.agentId}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${await t.token(by)}`,
        "content-type": "application/json",
        "a2a-version": "1.0",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "SubscribeToTask",
        params: { id: task.task_id },
      }),
    });
    return answer.text();
  };
  const listen = async (by: TestAgent) => JSON.stringify((await read(task, { by })).events);

  test.each([
    ["a stream of its events", listen],
    ["a subscription over A2A", subscribe],
  ])("D22: %s ends for the executor that refused the task", async (_, open) => {
    const opened = [former, boss, target].map((by) => open(by));
    await settleEventLoop();
    await reassign();
    await t.as(next, "POST", `${task.path}/result`, createReceipt(next, task));
    const [left, ...others] = await Promise.all(opened);
    expect(left).not.toContain("a note of the next one");
    expect(left).not.toContain(next.agentId);
    for (const text of others) expect(text).toContain("a note of the next one");
  });
});
