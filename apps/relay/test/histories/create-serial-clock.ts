import { createManualClock, type ManualClock } from "@agent/testkit";

/** A clock that several callers may advance at once: each of them moves it after the one before. */
export function createSerialClock(): ManualClock {
  const clock = createManualClock();
  let last = Promise.resolve();
  return {
    ...clock,
    advance(ms) {
      last = last.then(() => clock.advance(ms));
      return last;
    },
  };
}
