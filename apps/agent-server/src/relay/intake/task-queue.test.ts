import type { SendResult } from "@agent/client";
import { createManualClock } from "@agent/testkit";
import type { ClientMessage } from "@agent/wire";
import { expect, test } from "vitest";
import type { ListedTask } from "./task-receiver.ts";
import { createTaskQueue } from "./task-queue.ts";

const task = (task_id: string) => ({ task_id, assigned_to: null }) as ListedTask;

function newQueue(answer: () => SendResult = () => ({ ok: true })) {
  const clock = createManualClock();
  const messages: ClientMessage[] = [];
  const finish = new Map<string, () => void>();
  const queue = createTaskQueue({
    agentId: "me",
    run: ({ task_id }) => new Promise((resolve) => finish.set(task_id, resolve)),
    send(message) {
      const sent = answer();
      if (sent.ok) messages.push(message);
      return sent;
    },
    runtime: clock,
  });
  const sent = () => messages.splice(0).map((message) => JSON.stringify(Object.values(message)));
  return { clock, queue, finish, sent };
}

test("a task is claimed once, runs when its claim is granted, and then frees a slot for the ninth task", async () => {
  const { clock, queue, finish, sent } = newQueue();
  for (const id of ["1", "1", "2", "3", "4", "5", "6", "7", "8", "9"]) queue.take(task(id));
  expect(sent()).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"].map((id) => `["claim","${id}"]`));
  queue.claimed("1");
  expect([...finish.keys()]).toEqual(["1"]);
  finish.get("1")?.();
  await clock.advance(0);
  expect(sent()).toEqual(['["claim","9"]']);
});

test("a claim without an answer frees its slot after 10 s, and its task is claimed when offered again", async () => {
  const { clock, queue, sent } = newQueue();
  queue.take(task("a"));
  await clock.advance(10_000);
  queue.take(task("a"));
  expect(sent()).toEqual(['["claim","a"]', '["claim","a"]']);
});

test("A18: a task whose claim is granted after 10 s runs once, because the relay keeps its lease", async () => {
  const { clock, queue, finish } = newQueue();
  queue.take(task("a"));
  await clock.advance(10_000);
  queue.claimed("a");
  expect([...finish.keys()]).toEqual(["a"]);
  finish.clear();
  queue.claimed("a");
  expect(finish.size).toBe(0);
});

test("A19: a claimed task does not run without a socket, because another device may have it", () => {
  const { queue, finish } = newQueue(() => ({ ok: false, code: "socket.not_ready" }));
  queue.take({ ...task("a"), status: "claimed" });
  queue.take({ ...task("b"), status: "pending" });
  expect([...finish.keys()]).toEqual(["b"]);
});

test("A18: a task that runs without a socket does not run a second time when its claim is granted late", async () => {
  let isReady = true;
  const { clock, queue, finish } = newQueue(() =>
    isReady ? { ok: true } : { ok: false, code: "socket.not_ready" },
  );
  queue.take(task("a"));
  await clock.advance(10_000);
  isReady = false;
  queue.take(task("a"));
  finish.clear();
  queue.claimed("a");
  expect(finish.size).toBe(0);
});

test("a late claim that was refused can no longer be granted", async () => {
  const { clock, queue, finish } = newQueue();
  queue.take(task("a"));
  await clock.advance(10_000);
  queue.refused("a");
  queue.claimed("a");
  expect(finish.size).toBe(0);
});

test("a claim that the socket cannot send is sent a second later", async () => {
  let isFull = true;
  const { clock, queue, sent } = newQueue(() =>
    isFull ? { ok: false, code: "socket.backlogged" } : { ok: true },
  );
  queue.take(task("a"));
  isFull = false;
  await clock.advance(999);
  expect(sent()).toEqual([]);
  await clock.advance(1);
  expect(sent()).toEqual(['["claim","a"]']);
});

test("without a socket a task runs unclaimed", () => {
  const { queue, finish } = newQueue(() => ({ ok: false, code: "socket.not_ready" }));
  queue.take(task("a"));
  expect([...finish.keys()]).toEqual(["a"]);
});

test("a lease is renewed every 15 s until the task ends", async () => {
  const { clock, queue, finish, sent } = newQueue();
  queue.take(task("a"));
  queue.claimed("a");
  sent();
  await clock.advance(30_000);
  expect(sent()).toEqual(['["progress","a"]', '["progress","a"]']);
  finish.get("a")?.();
  await clock.advance(0);
  await clock.advance(30_000);
  expect(sent()).toEqual([]);
  expect(clock.pending()).toEqual([]);
});

test("a stopped queue sets no timer, accepts no task and runs none", async () => {
  const { clock, queue, finish, sent } = newQueue();
  queue.take(task("a"));
  queue.stop();
  sent();
  queue.claimed("a");
  queue.take(task("b"));
  await clock.advance(60_000);
  expect([queue.stopped, finish.size, sent(), clock.pending()]).toEqual([true, 0, [], []]);
});
