import { expect, test } from "vitest";
import { createManualClock } from "./clock.ts";

test("a manual clock advances only when it is moved", async () => {
  const clock = createManualClock(1_000);
  expect(clock.now()).toBe(1_000);
  await clock.advance(250);
  expect(clock.now()).toBe(1_250);
});

test("timers run at their own times, and those of the same time in the order in which they were set", async () => {
  const clock = createManualClock(0);
  const ran: [string, number][] = [];
  for (const [name, ms] of [
    ["c", 30],
    ["a", 10],
    ["b", 10],
    ["late", 31],
  ] as const) {
    clock.schedule(ms, () => ran.push([name, clock.now()]));
  }
  expect(clock.pending()).toEqual([10, 10, 30, 31]);
  await clock.advance(30);
  expect(ran).toEqual([
    ["a", 10],
    ["b", 10],
    ["c", 30],
  ]);
  expect(clock.pending()).toEqual([1]);
});

test("a cancelled timer does not run", async () => {
  const clock = createManualClock(0);
  let ran = false;
  const cancel = clock.schedule(10, () => (ran = true));
  cancel();
  await clock.advance(10);
  expect(ran).toBe(false);
});

test("callbacks that a timer starts are done before the next timer runs, and may set more timers", async () => {
  const clock = createManualClock(0);
  const ran: string[] = [];
  clock.schedule(10, async () => {
    await Promise.resolve();
    ran.push("first");
    clock.schedule(5, () => ran.push("between"));
  });
  clock.schedule(20, () => ran.push("last"));
  await clock.advance(20);
  expect(ran).toEqual(["first", "between", "last"]);
});
