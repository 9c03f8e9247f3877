import { describe, expect, it } from "vitest";
import type { Faults } from "./faults.ts";
import { simulate } from "./simulate.ts";

const SEEDS = Array.from({ length: 200 }, (_, index) => index + 1);

describe("the rules of the simulation", () => {
  const faults: Readonly<Record<string, Faults>> = {
    "a repeated settlement is booked again": { losesSettlements: true },
    "a settlement that timed out is refunded": { refundsOnTimeout: true },
    "a result is accepted from another peer": { acceptsAnyResult: true },
  };

  it.each(Object.entries(faults))("a planted fault is found within 200 seeds: %s", (_, planted) =>
    expectFound(planted),
  );
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

it("A8: a relay that lets a settlement expire in a slow answer breaks a rule at a rare seed, another one does not", () => {
  const seed = 8967;
  const faults = { expiresSlowAnswers: true };
  expect(simulate(seed, { faults }).violations).not.toEqual([]);
  expect(simulate(seed).violations).toEqual([]);
});

function expectFound(faults: Faults): void {
  const isFound = (seed: number) => simulate(seed, { faults }).violations.length > 0;
  expect(SEEDS.some(isFound)).toBe(true);
}
