import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calculateConfidence, createInitialDecay, reinforceDecay, type Decay } from "./decay.ts";

const day = 86_400_000;
const now = 1_760_000_000_000;

const decays = fc.record<Decay>({
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  halfLifeDays: fc.double({ min: 30, max: 365, noNaN: true }),
  reinforcedAt: fc.integer({ min: now - 10_000 * day, max: now + 10 * day }),
});

describe("confidence", () => {
  test("confidence is halved with every half-life of 30 days", () => {
    const decay = createInitialDecay(now);
    expect(decay.halfLifeDays).toBe(30);
    for (const [halfLives, share] of [
      [0, 1],
      [1, 1 / 2],
      [3, 1 / 8],
    ] as const) {
      const later = now + halfLives * 30 * day;
      expect(calculateConfidence(decay, later)).toBeCloseTo(decay.confidence * share, 12);
    }
  });

  test("confidence stays within 0 and 1 and never rises with time", () => {
    fc.assert(
      fc.property(decays, fc.nat(1_000 * day), (decay, wait) => {
        const before = calculateConfidence(decay, now);
        const after = calculateConfidence(decay, now + wait);
        expect(before).toBeLessThanOrEqual(1);
        expect(after).toBeGreaterThanOrEqual(0);
        expect(after).toBeLessThanOrEqual(before);
      }),
    );
  });
});

describe("reinforcement", () => {
  test("reinforcement raises confidence and half-life, the latter to at most 365 days", () => {
    fc.assert(
      fc.property(decays, (decay) => {
        const after = reinforceDecay(decay, now);
        expect(calculateConfidence(after, now)).toBeGreaterThanOrEqual(
          calculateConfidence(decay, now),
        );
        expect(after.confidence).toBeLessThanOrEqual(1);
        expect(after.halfLifeDays).toBeGreaterThanOrEqual(decay.halfLifeDays);
        expect(after.halfLifeDays).toBeLessThanOrEqual(365);
        expect(after.reinforcedAt).toBe(Math.max(now, decay.reinforcedAt));
      }),
    );
  });

  test("repeated reinforcement reaches a half-life of 365 days and stays there", () => {
    let decay = createInitialDecay(now);
    for (let times = 0; times < 20; times++) decay = reinforceDecay(decay, now);
    expect(decay.halfLifeDays).toBe(365);
  });
});
