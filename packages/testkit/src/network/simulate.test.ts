import { beforeAll, describe, expect, it } from "vitest";
import type { Faults } from "./faults.ts";
import { type Outcome, simulate } from "./simulate.ts";

const SEEDS = Array.from({ length: 200 }, (_, index) => index + 1);

describe("relays in bad weather, once it has cleared", () => {
  let outcomes: readonly Outcome[] = [];
  beforeAll(() => {
    outcomes = SEEDS.map((seed) => simulate(seed));
  });

  it("have lost, made and paid nothing twice, ended every hold, and agree on every task", () => {
    // A seed that is named here runs again with: pnpm simulate 1 <seed>
    expect(outcomes.filter(({ violations }) => violations.length > 0)).toEqual([]);
  });

  it.each([
    "task completed",
    "task failed",
    "task denied",
    "task expired",
    "task/forward forward.duplicate",
    "task/forward clearing.limit_exceeded",
    "task/forward federation.timestamp_expired",
    "task/result 202",
    "task/result result.wrong_peer",
    "settlement repeated",
    "settlement paid",
    "settlement held",
    "settlement refunded",
    "hold lapsed",
    "relay crashed",
    "peer removed",
    "peer suspended",
  ])("have gone through: %s", (event) => {
    const times = outcomes.reduce((sum, { counts }) => sum + (counts[event] ?? 0), 0);
    expect(times).toBeGreaterThan(0);
  });
});

it("runs again from its seed, step by step", () => {
  const stepsOf = (seed: number) => {
    const steps: string[] = [];
    const outcome = simulate(seed, { note: (step) => steps.push(step) });
    return { outcome, steps };
  };
  const first = stepsOf(7);
  expect(stepsOf(7)).toEqual(first);
  expect(stepsOf(8).steps).not.toEqual(first.steps);
});

describe("a fault is found within 200 seeds:", () => {
  const faults: Readonly<Record<string, Faults>> = {
    "a repeated settlement is booked again": { forgetsSettlements: true },
    "a settlement that timed out is refunded": { refundsOnTimeout: true },
    "a result is taken from another peer": { takesAnyResult: true },
  };

  it.each(Object.entries(faults))("%s", (_, planted) => {
    expect(SEEDS.some((seed) => simulate(seed, { faults: planted }).violations.length > 0)).toBe(
      true,
    );
  });
});
