import type { SimRelay, Simulation } from "../relay/sim-relay.ts";
import { MINUTE_MS } from "./network-faults.ts";

const HOUR_MS = 60 * MINUTE_MS;
/** A relay whose wall clock is behind for at least this long also restarts during that time. */
const MIN_BEHIND_MS = 30_000;

/**
 * Sets the wall clock of a relay forward or back by hours or days, and corrects it before the relay would
 * accept it.
 */
export function startClockJumps(
  { queue, random }: Simulation,
  relays: readonly SimRelay[],
  forMs: number,
): void {
  if (random.next() < 0.5) return;
  for (let i = 1 + random.below(4); i > 0; i -= 1) {
    const relay = random.pick(relays as [SimRelay]);
    const jumpMs = random.pick([1, 5, 24, 72, 24 * 30]) * HOUR_MS;
    const ms = random.next() < 0.5 ? jumpMs : 0 - jumpMs;
    const durationMs = random.pick([1_500, 30_000, 4 * MINUTE_MS, 9 * MINUTE_MS]);
    queue.after(random.below(forMs), () => {
      if (relay.isDown) return;
      relay.log(`its wall clock is set ${ms} ms ahead`);
      relay.count("clock jumped");
      relay.clock.setAhead(ms);
      relay.tick();
      // It restarts at once, because with such a clock it cannot measure how long it was down or frozen, as it
      // then stores no time.
      if (ms < 0 && durationMs >= MIN_BEHIND_MS && relay.isWorking) relay.crash(0);
      queue.after(durationMs, () => {
        relay.clock.setAhead(0);
        relay.tick();
      });
    });
  }
}
