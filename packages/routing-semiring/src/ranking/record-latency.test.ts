import fc from "fast-check";
import { expect, test } from "vitest";
import type { Candidate } from "./candidate.ts";
import { computeRecordLatency } from "./record-latency.ts";
import { rank } from "./rank.ts";

const record = { successes: 3, counted: 4, trustScore: 0.3, measuredMs: 200, promisedMs: 1_000 };

test.each<[string, Partial<typeof record> | { measuredMs: null }, number | null]>([
  ["an unmeasured latency stays unknown", { measuredMs: null }, null],
  ["a latency below the promise counts as measured", {}, 200],
  ["a latency slightly above the promise counts as measured", { measuredMs: 1_200 }, 1_200],
  [
    "a latency with as many failures as successes counts as measured",
    { successes: 2, measuredMs: 60_000 },
    60_000,
  ],
  [
    "a latency with more failures than successes counts as measured",
    { successes: 1, measuredMs: 60_000 },
    60_000,
  ],
])("D2: %s", (_, change, expected) => {
  expect(computeRecordLatency({ ...record, ...change })).toBe(expected);
});

test("D2: a slow record with more successes than failures still scores lower than a fast one", () => {
  const slow = computeRecordLatency({ ...record, measuredMs: 60_000 })!;
  expect(slow).toBeGreaterThan(record.promisedMs);
  expect(slow).toBeLessThan(60_000);
});

test("D2: a slow record keeps half of its lead over a newcomer with the same listing", () => {
  const candidate: Candidate = {
    agent_id: "a",
    capabilities: ["sum"],
    unit_cost: 1,
    blocked: false,
    listing_latency_ms: record.promisedMs,
    online: true,
    availability_guarantee: 0.9,
    trust_score: 0.1,
    successes: 0,
    counted: 0,
    avg_latency_ms: null,
  };
  const { successes, counted, trustScore: trust_score } = record;
  const known = { ...candidate, successes, counted, trust_score };
  const slow = {
    ...known,
    avg_latency_ms: computeRecordLatency({ ...record, measuredMs: 60_000 }),
  };
  const [newcomer, punctual, late] = [candidate, known, slow].map(
    (one) => rank([one], { requiredCapabilities: ["sum"] }).ranked[0]!.composite_score,
  );
  expect(late! - newcomer!).toBeCloseTo((punctual! - newcomer!) / 2, 10);
});

const milliseconds = fc.double({ min: 0, max: 1e7, noNaN: true });

test("D2: a new id scores below any record with the same listing and more successes than failures", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 500 }),
      fc.integer({ min: 1, max: 500 }),
      fc.constantFrom(0.1, 0.3, 0.6, 0.9),
      milliseconds,
      fc.option(milliseconds),
      fc.double({ min: 0, max: 100, noNaN: true }),
      fc.boolean(),
      (failures, more, trust, measuredMs, promisedMs, unit_cost, online) => {
        const [successes, counted] = [failures + more, 2 * failures + more];
        const listing = {
          capabilities: ["sum"],
          unit_cost,
          blocked: false,
          listing_latency_ms: promisedMs,
          online,
          availability_guarantee: 0.9,
        };
        const newcomer: Candidate = {
          ...listing,
          agent_id: "a",
          trust_score: 0.1,
          successes: 0,
          counted: 0,
          avg_latency_ms: null,
        };
        const known: Candidate = {
          ...listing,
          agent_id: "b",
          trust_score: trust,
          successes,
          counted,
          avg_latency_ms: computeRecordLatency({
            successes,
            counted,
            trustScore: trust,
            measuredMs,
            promisedMs,
          }),
        };
        const { choice, ranked } = rank([newcomer, known], { requiredCapabilities: ["sum"] });
        expect(choice?.selected_agent).toBe("b");
        expect(ranked[0]!.composite_score).toBeGreaterThan(ranked[1]!.composite_score);
      },
    ),
  );
});
