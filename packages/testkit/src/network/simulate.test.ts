import { beforeAll, describe, expect, it } from "vitest";
import type { Faults } from "./faults.ts";
import { type SimulationResult, simulate } from "./simulate.ts";

const SEEDS = Array.from({ length: 200 }, (_, index) => index + 1);

describe("relays in bad weather, once it has cleared", () => {
  let outcomes: readonly SimulationResult[] = [];
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
    "a repeated settlement is booked again": { losesSettlements: true },
    "a settlement that timed out is refunded": { refundsOnTimeout: true },
    "a result is taken from another peer": { acceptsAnyResult: true },
  };

  it.each(Object.entries(faults))("%s", (_, planted) => expectFound(planted));
});

describe("each mend, taken out again, is found within 200 seeds", () => {
  it.each<[string, Faults]>([
    ["A1: a relay where a receipt ends a task that is with a peer", { endsForwardedTasks: true }],
    [
      "A1: a relay where a receipt counts under the key that it carries",
      { trustsEmbeddedKeys: true },
    ],
    [
      "A2: a relay in the middle that goes on reserving for a task that was never settled",
      { keepsExpiredReservations: true },
    ],
    [
      "A2: a relay that goes on reserving for forwarded tasks that ended unpaid",
      { reservesForEndedTasks: true },
    ],
    ["A3: a relay that admits a removed peer again", { admitsRemovedPeers: true }],
    ["A3: a relay that gives credit to a peer that is admitted again", { returnsCredit: true }],
    ["A5: a relay that believes its wall clock", { trustsWallClock: true }],
    ["A8: a relay that brings no results back after a restore", { keepsResultsAfterRestore: true }],
    ["A8: a relay that counts its freeze as time to settle", { countsFrozenTime: true }],
    [
      "A8: a relay that uses up attempts of a settlement on a frozen peer",
      { usesUpFrozenAttempts: true },
    ],
    ["A8: a relay that reports no difference of positions", { hidesDifferences: true }],
    [
      "A8: a relay that compares positions while something is under way",
      { comparesUnderWay: true },
    ],
    ["A9: a relay that lets a hold lapse without a default", { ignoresDefaults: true }],
    ["A9: a relay that leaves defaults out of what a peer owes", { omitsDefaults: true }],
    [
      "A9: a relay that expects nothing for a result accepted after its hold has lapsed",
      { ignoresLateAcceptance: true },
    ],
  ])("%s is found within 200 seeds", (_, planted) => expectFound(planted));
});

it.each([5394, 8967])(
  "A8: a relay that lets a settlement expire in a slow answer is found at seed %i, and only it breaks a rule",
  (seed) => {
    const faults = { expiresSlowAnswers: true };
    expect(simulate(seed, { faults }).violations).not.toEqual([]);
    expect(simulate(seed).violations).toEqual([]);
  },
);

it.each([3555, 8442])(
  "A3, A8: relays are peers again at seed %i, where a backup is from before a peer was admitted again",
  (seed) => {
    expect(simulate(seed).violations).toEqual([]);
  },
);

function expectFound(faults: Faults): void {
  const isFound = (seed: number) => simulate(seed, { faults }).violations.length > 0;
  expect(SEEDS.some(isFound)).toBe(true);
}
