import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  acceptWallClock,
  advanceClock,
  createClock,
  type ClockReading,
  type ClockState,
} from "./steady-clock.ts";

const START = 1_760_000_000_000;
const DAY = 86_400_000;
const MINUTE = 60_000;

/** A reading after `monotonic` ms, with the wall clock `ahead` ms ahead of the elapsed time. */
const at = (monotonic: number, ahead = 0): ClockReading => ({
  wall: START + monotonic + ahead,
  monotonic,
});

function run(readings: readonly ClockReading[], begin = createClock(at(0))): ClockState {
  return readings.reduce(advanceClock, begin);
}

describe("the steady clock", () => {
  test.each<[string, readonly ClockReading[], now: number, jump: number | null]>([
    ["shows the wall time while nothing jumps", [at(1_000)], 1_000, null],
    ["follows a step of 60 s ahead", [at(1_000, MINUTE)], 1_000 + MINUTE, null],
    ["follows a step of 60 s back", [at(1_000, -MINUTE)], 1_000 - MINUTE, null],
    [
      "advances by the monotonic clock if the wall clock is more than 60 s ahead",
      [at(1_000, MINUTE + 1), at(2_000, MINUTE + 1)],
      2_000,
      MINUTE + 1,
    ],
    ["goes on at its own pace when days are lost", [at(1_000, -3 * DAY)], 1_000, -3 * DAY],
    [
      "follows a wall clock that returned",
      [at(1_000, 3 * DAY), at(2_500, 3 * DAY), at(2_600, 5)],
      2_605,
      null,
    ],
    [
      "does not accept an offset that has lasted less than 10 minutes",
      [at(0, DAY), at(10 * MINUTE - 1, DAY)],
      10 * MINUTE - 1,
      DAY,
    ],
    [
      "accepts an offset that has lasted 10 minutes",
      [at(0, DAY), at(10 * MINUTE, DAY)],
      10 * MINUTE + DAY,
      null,
    ],
    [
      "accepts a negative offset that has lasted 10 minutes",
      [at(0, -DAY), at(10 * MINUTE, -DAY)],
      10 * MINUTE - DAY,
      null,
    ],
    [
      "treats an offset that drifts by less than 60 s as the same one",
      [at(0, DAY), at(5 * MINUTE, DAY + 30_000), at(10 * MINUTE, DAY - 30_000)],
      10 * MINUTE + DAY - 30_000,
      null,
    ],
    [
      "restarts the wait when the offset changes",
      [at(0, DAY), at(9 * MINUTE, 2 * DAY), at(18 * MINUTE, 2 * DAY)],
      18 * MINUTE,
      2 * DAY,
    ],
  ])("the steady clock %s", (_, readings, now, jump) => {
    const state = run(readings);
    expect([state.now - START, state.jump?.offset ?? null]).toEqual([now, jump]);
  });

  test("the steady clock starts at the newest stored time if the wall clock is before it", () => {
    const state = run([at(1_000)], createClock(at(0), START + 3 * DAY));
    expect(state.now).toBe(START + 3 * DAY + 1_000);
    expect(state.jump?.offset).toBe(-3 * DAY);
  });

  test("the steady clock starts at the wall clock after a long downtime", () => {
    expect(createClock(at(0), START - 30 * DAY).now).toBe(START);
  });

  test("the steady clock shows the wall time at once when the operator accepts it", () => {
    const accepted = acceptWallClock(at(5_000, DAY));
    expect(advanceClock(accepted, at(6_000, DAY))).toEqual({
      now: START + 6_000 + DAY,
      monotonic: 6_000,
      jump: null,
    });
  });

  test("the steady clock moves by the elapsed time, a followed step, or an offset that lasted 10 minutes", () => {
    const step = fc.record({
      passed: fc.oneof(fc.nat(2_000), fc.nat(5 * MINUTE)),
      ahead: fc.oneof(
        fc.constantFrom(0, 3 * DAY, -3 * DAY),
        fc.integer({ min: -2 * MINUTE, max: 2 * MINUTE }),
      ),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let monotonic = 0;
        let state = createClock(at(0));
        let firstAway: number | null = null;
        for (const { passed, ahead } of steps) {
          monotonic += passed;
          const reading = at(monotonic, ahead);
          const own = state.now + passed;
          const isNear = Math.abs(reading.wall - own) <= MINUTE;
          firstAway = isNear ? null : (firstAway ?? monotonic);
          const mayAccept = firstAway !== null && monotonic - firstAway >= 10 * MINUTE;
          const allowed = isNear ? [reading.wall] : mayAccept ? [own, reading.wall] : [own];
          state = advanceClock(state, reading);
          expect(allowed).toContain(state.now);
          if (state.jump === null) firstAway = null;
        }
      }),
    );
  });
});
