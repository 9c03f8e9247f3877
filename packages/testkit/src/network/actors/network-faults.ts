import type { SeededRandom } from "../../random.ts";
import type { NetworkConditions } from "../links.ts";
import type { SimRelay, Simulation } from "../relay/sim-relay.ts";

export const MINUTE_MS = 60_000;

/** Disturbs all links for a time with light and heavy loss, cut links and crashes. */
export function startNetworkFaults(
  { queue, random, links }: Simulation,
  relays: readonly SimRelay[],
  pairs: readonly (readonly [SimRelay, SimRelay])[],
  forMs: number,
): void {
  const usual = createBaseConditions(random);
  links.conditions = usual;
  for (let i = random.below(6); i > 0; i -= 1) {
    const at = random.below(forMs - 10 * MINUTE_MS);
    const worse = createBadConditions(random);
    queue.after(at, () => (links.conditions = worse));
    queue.after(at + (2 + random.below(8)) * MINUTE_MS, () => (links.conditions = usual));
  }
  for (let i = random.below(6); i > 0; i -= 1) {
    const relay = random.pick(relays as [SimRelay]);
    queue.after(random.below(forMs), () => relay.crash(randomDurationMs(random)));
  }
  for (let i = random.below(8); i > 0; i -= 1) {
    const [one, other] = random.pick(pairs as [[SimRelay, SimRelay]]);
    const [a, b] = random.next() < 0.5 ? [one, other] : [other, one];
    const isOneWay = random.next() < 0.5;
    const isNoticed = random.next() < 0.5;
    queue.after(random.below(forMs), () => {
      const ms = randomDurationMs(random);
      links.cut(a.id, b.id, ms, isNoticed);
      if (!isOneWay) links.cut(b.id, a.id, ms, isNoticed);
    });
  }
}

function createBaseConditions(random: SeededRandom): NetworkConditions {
  const severity = random.next();
  return {
    loseRequest: 0.7 * severity * random.next(),
    loseAnswer: 0.8 * severity * random.next(),
    duplicate: 0.3 * random.next(),
    slow: 0.2 * severity * random.next(),
    verySlow: 0.1 * severity * random.next(),
    misreport: 0.25 * random.next(),
  };
}

/** Creates conditions in which most messages are lost and many others arrive too late. */
function createBadConditions(random: SeededRandom): NetworkConditions {
  return {
    loseRequest: 0.5 + 0.3 * random.next(),
    loseAnswer: 0.5 * random.next(),
    duplicate: 0.1,
    slow: 0.1,
    verySlow: 0.9 * random.next(),
    misreport: 0,
  };
}

/** Returns a duration that is mostly short, but sometimes longer than all retries. */
function randomDurationMs(random: SeededRandom): number {
  return random.below(random.next() < 0.4 ? 40 * MINUTE_MS : 3 * MINUTE_MS);
}
