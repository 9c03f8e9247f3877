import { beforeAll, describe, expect, it } from "vitest";
import { type SimulationResult, simulate } from "./simulate.ts";

const SEEDS = Array.from({ length: 200 }, (_, index) => index + 1);

describe("relays that have recovered from network faults", () => {
  let outcomes: readonly SimulationResult[] = [];
  beforeAll(() => {
    outcomes = SEEDS.map((seed) => simulate(seed));
  }, 120_000);

  it("recovered relays lost no money, paid nothing twice, ended every hold and agree on every task", () => {
    // A reported seed can be repeated with: pnpm simulate 1 <seed>
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
    "hold expired",
    "relay crashed",
    "peer removed",
    "peer suspended",
    "receipt forged",
    "peer removed by operator",
    "peer/propose federation.peer_removed",
    "peer admitted again",
    "clock jumped",
    "relay frozen",
    "relay restored",
    "settlement/forward server.frozen",
    "position differs",
    "peer defaulted",
    "default cleared",
    "settled late",
  ])("the simulation contains the event: %s", (event) => {
    const times = outcomes.reduce((sum, { counts }) => sum + (counts[event] ?? 0), 0);
    expect(times).toBeGreaterThan(0);
  });
});

it("a simulation repeats every step for the same seed", () => {
  const stepsOf = (seed: number) => {
    const steps: string[] = [];
    const outcome = simulate(seed, { onStep: (step) => steps.push(step) });
    return { outcome, steps };
  };
  const first = stepsOf(7);
  expect(stepsOf(7)).toEqual(first);
  expect(stepsOf(8).steps).not.toEqual(first.steps);
});

it.each([3555, 8442])(
  "A3, A8: relays are peers again at seed %i although a backup is from before the readmission",
  (seed) => {
    expect(simulate(seed).violations).toEqual([]);
  },
);

it("A8: a position that a peer stated before it settled late raises no alarm at seed 22828", () => {
  expect(simulate(22_828).violations).toEqual([]);
});
