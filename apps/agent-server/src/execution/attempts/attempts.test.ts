import { createManualClock } from "@agent/testkit";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openAttempts } from "./attempts.ts";

const DAY_MS = 24 * 60 * 60_000;
const { signal: never } = new AbortController();

let folder: string;
let now: number;
let events: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-attempts-"));
  now = createManualClock().now();
  events = [];
});
afterEach(() => rm(folder, { recursive: true }));

const open = (change: { path?: string; relayUrl?: string; agentId?: string } = {}) =>
  openAttempts(
    { path: join(folder, "data", "attempts.json"), relayUrl: "r", agentId: "a", ...change },
    { now: () => now, log: (level, event) => void events.push(`${level} ${event}`) },
  );

/** Begins tasks in a process that is killed while they run. */
async function crashIn(...taskIds: string[]): Promise<void> {
  const attempts = await open();
  const begun = taskIds.map(
    (taskId) =>
      new Promise((resolve) => {
        void attempts.run(taskId, never, (mayBegin) => {
          resolve(mayBegin);
          return new Promise(() => {});
        });
      }),
  );
  await Promise.all(begun);
}

const isBegun = async () => (await open()).run("t", never, async (mayBegin) => mayBegin);

test("A20: a task that was begun three times and never ended is not begun again", async () => {
  for (let crashes = 0; crashes < 3; crashes++) await crashIn("t");
  expect((await open()).listOpen()).toEqual(["t"]);
  expect(await isBegun()).toBe(false);
});

test("A20: the count of a task ends with its receipt", async () => {
  await crashIn("t");
  await crashIn("t");
  const attempts = await open();
  expect(await attempts.run("t", never, async (mayBegin) => mayBegin)).toBe(true);
  attempts.end("t");
  await attempts.close();
  expect((await open()).listOpen()).toEqual([]);
  for (let crashes = 0; crashes < 3; crashes++) {
    expect(await isBegun()).toBe(true);
  }
  expect(await isBegun()).toBe(false);
});

test("A20: work that gets no receipt ends the count of its task", async () => {
  await crashIn("t");
  const attempts = await open();
  const refused = attempts.run("t", never, () => Promise.reject(new Error("withdrawn")));
  await expect(refused).rejects.toThrow("withdrawn");
  expect(attempts.listOpen()).toEqual([]);
});

test("A20: tasks that ran at the same time in two crashes get their last attempt one after another", async () => {
  await crashIn("one", "two");
  await crashIn("one", "two");
  const attempts = await open();
  const running: string[] = [];
  const endWork = new Map<string, () => void>();
  const run = (taskId: string) =>
    attempts.run(taskId, never, () => {
      running.push(taskId);
      return new Promise<void>((resolve) => endWork.set(taskId, resolve));
    });
  const one = run("one");
  const two = run("two");
  await expect.poll(() => running).toEqual(["one"]);
  void run("fresh");
  await expect.poll(() => running).toEqual(["one", "fresh"]);
  // A crash now counts for the one that runs.
  const text = await readFile(join(folder, "data", "attempts.json"), "utf8");
  expect(JSON.parse(text)).toMatchObject({
    tasks: [
      { task_id: "one", attempts: 3 },
      { task_id: "two", attempts: 2 },
      { task_id: "fresh", attempts: 1 },
    ],
  });
  endWork.get("one")?.();
  await one;
  await expect.poll(() => running).toEqual(["one", "fresh", "two"]);
  endWork.get("two")?.();
  await two;
});

test("A20: a task that waits for its last attempt passes when it is cancelled", async () => {
  await crashIn("one", "two");
  await crashIn("one", "two");
  const attempts = await open();
  void attempts.run("one", never, () => new Promise(() => {}));
  const cancel = new AbortController();
  const two = attempts.run("two", cancel.signal, async () => "passed");
  cancel.abort();
  expect(await two).toBe("passed");
});

test("A20: the counts of another relay, of another agent, and of a week ago do not count", async () => {
  await crashIn("t");
  expect((await open({ relayUrl: "other" })).listOpen()).toEqual([]);
  expect((await open({ agentId: "other" })).listOpen()).toEqual([]);
  now += 7 * DAY_MS - 1;
  expect((await open()).listOpen()).toEqual(["t"]);
  now += 1;
  expect((await open()).listOpen()).toEqual([]);
});

test("A20: a clock that jumps back does not reset a count", async () => {
  await crashIn("t");
  now -= 30 * DAY_MS;
  expect((await open()).listOpen()).toEqual(["t"]);
});

test("A20: a task begins even if its count cannot be stored", async () => {
  await writeFile(join(folder, "file"), "");
  const attempts = await open({ path: join(folder, "file", "attempts.json") });
  expect(await attempts.run("t", never, async (mayBegin) => mayBegin)).toBe(true);
  expect(events).toEqual(["warn attempts.unreadable", "error attempts.not_kept"]);
});

test.each([
  "",
  "{",
  "[]",
  '{"relay_url":"r","agent_id":"a","tasks":[{"task_id":"t","attempts":0}]}',
])("A20: the damaged file %j is logged, and counting begins anew", async (text) => {
  await crashIn("t");
  await writeFile(join(folder, "data", "attempts.json"), text);
  expect((await open()).listOpen()).toEqual([]);
  expect(events).toEqual(["warn attempts.unreadable"]);
  await crashIn("t");
  expect((await open()).listOpen()).toEqual(["t"]);
  expect(await readdir(join(folder, "data"))).toEqual([".gitignore", "attempts.json"]);
});
