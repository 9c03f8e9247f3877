import { createManualClock } from "@agent/testkit";
import { expect, test } from "vitest";
import { createJoinCycle } from "./join-cycle.ts";
import type { JoinResult } from "./join-relay.ts";

const down: JoinResult = {
  ok: false,
  code: "network.unreachable",
  status: 0,
  message: "down",
};

function newCycle(run: () => Promise<JoinResult | undefined>) {
  const clock = createManualClock();
  const events: string[] = [];
  const runtime = {
    ...clock,
    // The maximum of the jitter.
    randomBytes: (length: number) => new Uint8Array(length).fill(255),
    log: (_: string, event: string) => void events.push(event),
  };
  const state = { runs: 0 };
  const cycle = createJoinCycle({
    run: () => {
      state.runs += 1;
      return run();
    },
    intervalMs: 60_000,
    runtime,
  });
  return { clock, cycle, events, state };
}

test("a run of the join cycle without an attempt to join is repeated after the interval", async () => {
  const { clock, cycle, state } = newCycle(async () => undefined);
  await cycle.start();
  expect(clock.pending()).toEqual([60_000]);
  await clock.advance(60_000);
  expect(state.runs).toBe(2);
});

test("the wait doubles after each failed attempt to join and is reset by a success", async () => {
  let answer: JoinResult = down;
  const { clock, cycle } = newCycle(async () => answer);
  const waits: (number | undefined)[] = [];
  await cycle.start();
  for (let tries = 0; tries < 8; tries++) {
    const [wait = 0] = clock.pending();
    waits.push(wait);
    await clock.advance(wait);
  }
  expect(waits).toEqual([499, 999, 1_999, 3_999, 7_999, 15_999, 29_999, 29_999]);
  answer = { ok: true } as JoinResult;
  await clock.advance(29_999);
  expect(clock.pending()).toEqual([60_000]);
  answer = down;
  await clock.advance(60_000);
  expect(clock.pending()).toEqual([499]);
});

test("a run of the join cycle that throws is logged and repeated after the interval", async () => {
  const { clock, cycle, events } = newCycle(() => Promise.reject(new Error("x")));
  expect(await cycle.start()).toBeUndefined();
  expect(events).toEqual(["relay.cycle_failed"]);
  expect(clock.pending()).toEqual([60_000]);
});

test("runNow replaces the next run, but not during a run or after a stop", async () => {
  const { clock, cycle, state } = newCycle(async () => undefined);
  const running = cycle.start();
  expect(cycle.runNow()).toBe(false);
  await running;
  expect(cycle.runNow()).toBe(true);
  await clock.advance(0);
  expect(state.runs).toBe(2);
  expect(clock.pending()).toEqual([60_000]);
  cycle.stop();
  expect(cycle.runNow()).toBe(false);
  expect([cycle.stopped, clock.pending()]).toEqual([true, []]);
});
