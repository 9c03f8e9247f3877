import { createManualClock } from "@agent/testkit";
import { createRelayClock } from "../../src/clock/relay-clock.ts";
import { startTestRelay, type TestRelay } from "../test-relay.ts";

export const DAY_MS = 86_400_000;

/** A relay whose wall clock can be set, while its callers use the correct time. */
export interface JumpingRelay extends TestRelay {
  /** Sets the relay's wall clock to the correct time plus `ms`. */
  setAhead(ms: number): void;
  /** Advances time as at a running relay, whose jobs run every second. */
  advance(ms: number): Promise<void>;
}

export async function startJumpingRelay(
  env: Record<string, string> = {},
  { seed = 1, clock = createManualClock(), ahead = 0 } = {},
): Promise<JumpingRelay> {
  let offset = ahead;
  const relayClock = createRelayClock({
    wall: () => clock.now() + offset,
    monotonic: () => clock.now(),
  });
  const t = await startTestRelay(env, seed, clock, relayClock);
  await t.relay.tick();
  return {
    ...t,
    setAhead(ms) {
      offset = ms;
    },
    async advance(ms) {
      for (let left = ms; left > 0; left -= 1_000) {
        await clock.advance(Math.min(1_000, left));
        await t.relay.tick();
      }
    },
  };
}
