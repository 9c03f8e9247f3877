import type { SimRelay, World } from "../relay/sim-relay.ts";
import { MINUTE } from "./weather.ts";

const HOUR = 60 * MINUTE;

/**
 * The wall clock of some relay is set hours or days ahead or back, and set right before the time that
 * a relay takes to believe it.
 */
export function startClockJumps(
  { queue, random }: World,
  relays: readonly SimRelay[],
  forMs: number,
): void {
  if (random.next() < 0.5) return;
  for (let i = 1 + random.below(4); i > 0; i -= 1) {
    const relay = random.pick(relays as [SimRelay]);
    const far = random.pick([1, 5, 24, 72, 24 * 30]) * HOUR;
    const ms = random.next() < 0.5 ? far : 0 - far;
    const lasts = random.pick([1_500, 30_000, 4 * MINUTE, 9 * MINUTE]);
    queue.after(random.below(forMs), () => {
      if (relay.isDown) return;
      relay.note(`its wall clock is set ${ms} ms ahead`);
      relay.tally("clock jumped");
      relay.clock.setAhead(ms);
      relay.tick();
      queue.after(lasts, () => {
        relay.clock.setAhead(0);
        relay.tick();
      });
    });
  }
}
