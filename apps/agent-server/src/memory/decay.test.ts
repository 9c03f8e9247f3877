import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calculateConfidence, createInitialDecay, reinforceDecay, type Decay } from "./decay.ts";

const day = 86_400_000;
const now = 1_760_000_000_000;

const fadings = fc.record<Decay>({
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  halfLifeDays: fc.double({ min: 30, max: 365, noNaN: true }),
  reinforcedAt: fc.integer({ min: now - 10_000 * day, max: now + 10 * day }),
});

describe("confidence", () => {
  test("confidence is halved with every half-life of 30 days", () => {
    const fading = createInitialDecay(now);
    expect(fading.halfLifeDays).toBe(30);
    for (const [halfLives, share] of [
      [0, 1],
      [1, 1 / 2],
      [3, 1 / 8],
    ] as const) {
      const later = now + halfLives * 30 * day;
      expect(calculateConfidence(fading, later)).toBeCloseTo(fading.confidence * share, 12);
    }
  });

  test("confidence stays within 0 and 1 and never rises with time", () => {
    fc.assert(
      fc.property(fadings, fc.nat(1_000 * day), (fading, wait) => {
        const before = calculateConfidence(fading, now);
        const after = calculateConfidence(fading, now + wait);
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
      fc.property(fadings, (fading) => {
        const after = reinforceDecay(fading, now);
        expect(calculateConfidence(after, now)).toBeGreaterThanOrEqual(
          calculateConfidence(fading, now),
        );
        expect(after.confidence).toBeLessThanOrEqual(1);
        expect(after.halfLifeDays).toBeGreaterThanOrEqual(fading.halfLifeDays);
        expect(after.halfLifeDays).toBeLessThanOrEqual(365);
        expect(after.reinforcedAt).toBe(Math.max(now, fading.reinforcedAt));
      }),
    );
  });

  test("repeated reinforcement reaches a half-life of 365 days and stays there", () => {
    let fading = createInitialDecay(now);
    for (let times = 0; times < 20; times++) fading = reinforceDecay(fading, now);
    expect(fading.halfLifeDays).toBe(365);
  });
});
