import { beforeAll, describe, expect, it } from "vitest";
import type { Faults } from "./faults.ts";
import { type SimulationResult, simulate } from "./simulate.ts";

const SEEDS = Array.from({ length: 200 }, (_, index) => index + 1);

describe("relays that have recovered from network faults", () => {
  let outcomes: readonly SimulationResult[] = [];
  beforeAll(() => {
    outcomes = SEEDS.map((seed) => simulate(seed));
  });

  it("have lost no money, paid nothing twice, ended every hold and agree on every task", () => {
    // A reported seed runs again with: pnpm simulate 1 <seed>
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
  ])("have been through the event: %s", (event) => {
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

describe("a planted fault is found within 200 seeds:", () => {
  const faults: Readonly<Record<string, Faults>> = {
    "a repeated settlement is booked again": { losesSettlements: true },
    "a settlement that timed out is refunded": { refundsOnTimeout: true },
    "a result is accepted from another peer": { acceptsAnyResult: true },
  };

  it.each(Object.entries(faults))("%s", (_, planted) => expectFound(planted));
});

describe("the checks of the simulation", () => {
  it.each<[string, Faults]>([
    ["A1: a relay where a receipt ends a task that a peer has", { endsForwardedTasks: true }],
    [
      "A1: a relay that accepts a receipt under the key that it contains",
      { trustsEmbeddedKeys: true },
    ],
    [
      "A2: an intermediate relay that keeps the reservation of a task that was never settled",
      { keepsExpiredReservations: true },
    ],
    [
      "A2: a relay that keeps the reservations of forwarded tasks that ended unpaid",
      { reservesForEndedTasks: true },
    ],
    ["A3: a relay that admits a removed peer again", { admitsRemovedPeers: true }],
    ["A3: a relay that gives credit to a peer that is admitted again", { returnsCredit: true }],
    ["A5: a relay that trusts its wall clock", { trustsWallClock: true }],
    ["A5: a relay that starts before its newest stored time", { ignoresStoredTime: true }],
    [
      "A8: a relay that does not return results again after a restore",
      { keepsResultsAfterRestore: true },
    ],
    ["A8: a relay that counts its freeze as time to settle", { countsFrozenTime: true }],
    [
      "A8: a relay that counts attempts of a settlement at a frozen peer",
      { usesUpFrozenAttempts: true },
    ],
    ["A8: a relay that reports no difference of positions", { hidesDifferences: true }],
    [
      "A8: a relay that compares positions while a task or settlement is pending",
      { comparesUnderWay: true },
    ],
    ["A9: a relay that lets a hold expire without a default", { ignoresDefaults: true }],
    ["A9: a relay that omits defaults from a peer's debt", { omitsDefaults: true }],
    [
      "A9: a relay that does not expect the settlement of a result accepted after its hold has expired",
      { ignoresLateAcceptance: true },
    ],
  ])("%s is found within 200 seeds", (_, planted) => expectFound(planted));
});

it.each([5394, 8967])(
  "A8: a relay that lets a settlement expire in a slow answer breaks a rule at seed %i, another one does not",
  (seed) => {
    const faults = { expiresSlowAnswers: true };
    expect(simulate(seed, { faults }).violations).not.toEqual([]);
    expect(simulate(seed).violations).toEqual([]);
  },
);

it.each([3555, 8442])(
  "A3, A8: relays are peers again at seed %i although a backup is from before the readmission",
  (seed) => {
    expect(simulate(seed).violations).toEqual([]);
  },
);

function expectFound(faults: Faults): void {
  const isFound = (seed: number) => simulate(seed, { faults }).violations.length > 0;
  expect(SEEDS.some(isFound)).toBe(true);
}
