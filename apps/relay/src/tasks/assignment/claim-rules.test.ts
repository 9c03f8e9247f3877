import { describe, expect, test } from "vitest";
import {
  calculateClaimEnd,
  isHeldByOtherProcess,
  isWorkedOnAtExpiry,
  noShowScope,
  RECOVERY_MS,
} from "./claim-rules.ts";

const claimed = {
  claimed_at: 1_000_000,
  last_sign_at: 1_000_000,
  wall_clock_ms: null,
  cancel_requested_at: null,
};

describe("B2: a claim", () => {
  test.each([
    ["ends a full lease after it was made", {}, 1_060_000],
    ["ends a full lease after the newest sign of work", { last_sign_at: 1_050_000 }, 1_110_000],
    [
      "ends at the wall clock, even if its holder reports progress",
      { last_sign_at: 1_050_000, wall_clock_ms: 70_000 },
      1_070_000,
    ],
    ["ends at a wall clock of part of a millisecond before it", { wall_clock_ms: 1.5 }, 1_000_001],
    ["does not last longer for a wall clock that is far away", { wall_clock_ms: 1e300 }, 1_060_000],
    [
      "is cancelled a lease after the request without a sign of work",
      { cancel_requested_at: 1_030_000 },
      1_090_000,
    ],
    [
      "is cancelled a lease after the newest sign of work behind the request",
      { cancel_requested_at: 1_030_000, last_sign_at: 1_080_000 },
      1_140_000,
    ],
    [
      "is cancelled at the wall clock, though its holder still works",
      { cancel_requested_at: 1_030_000, last_sign_at: 1_080_000, wall_clock_ms: 100_000 },
      1_100_000,
    ],
  ] as const)("B2: a claim %s", (_, change, endsAt) => {
    expect(calculateClaimEnd({ ...claimed, ...change })).toBe(endsAt);
  });
});

const other = { openedAt: 999_999, isHolder: false, isOnly: false };

test.each([
  ["a socket that was open before it belongs to another process", 1_000_000, {}, true],
  ["a socket that was opened at its time does too", 1_000_000, { openedAt: 1_000_000 }, true],
  ["a socket that was opened later may be the holder's", 1_000_000, { openedAt: 1_000_001 }, false],
  ["the holder's own socket does not", 1_000_000, { isHolder: true }, false],
  ["the agent's only socket does not", 1_000_000, { isOnly: true }, false],
  ["a socket beside a claim without a time does not", null, {}, false],
] as const)("D26: of a claim, %s", (_, claimedAt, change, expected) => {
  expect(isHeldByOtherProcess(claimedAt, { ...other, ...change })).toBe(expected);
});

const ended = {
  claimed_at: 1_000_000,
  lapsed_at: 1_060_000,
  priced: true,
  max_latency_ms: null,
  running_since: 0,
  recovery_ms: RECOVERY_MS,
  now: 1_060_000,
};

test.each([
  ["a priced no-show after 60 s counts for strangers", {}, "strangers"],
  ["a no-show after a millisecond less counts for the pair only", { lapsed_at: 1_059_999 }, "pair"],
  ["a free no-show counts for the pair only", { priced: false }, "pair"],
  [
    "a no-show after the listing's time counts for strangers",
    { max_latency_ms: 10, lapsed_at: 1_000_010 },
    "strangers",
  ],
  [
    "a no-show after less than the listing's time counts for the pair only",
    { max_latency_ms: 60_001 },
    "pair",
  ],
  ["a wall clock of 1 ms proves nothing to strangers", { lapsed_at: 1_000_001 }, "pair"],
  [
    "a claim from before a restart that ends within 2 minutes does not count",
    { running_since: 1_000_000, now: 1_120_000 },
    "none",
  ],
  [
    "a claim from before a restart that ends later counts",
    { running_since: 1_000_000, now: 1_120_001 },
    "strangers",
  ],
  [
    "one from before a restart does not count while its holder may still come back",
    { running_since: 1_000_000, recovery_ms: 200_000, now: 1_200_000 },
    "none",
  ],
  ["one from after a restart counts at once", { running_since: 999_999 }, "strangers"],
  ["one of an older version, without a time, does not count", { claimed_at: null }, "none"],
] as const)("B2: %s", (_, change, counts) => {
  expect(noShowScope({ ...ended, ...change })).toBe(counts);
});

test.each([
  ["a sign of work within the last minute shows work", { worked_at: 40_001 }, true],
  ["an older one does not", { worked_at: 40_000 }, false],
  ["none does not", { worked_at: null }, false],
  ["an open call of an endpoint does", { worked_at: 0, inCall: true }, true],
] as const)("B12: at expiry %s", (_, change, expected) => {
  expect(isWorkedOnAtExpiry({ expires_at: 100_000, inCall: false, ...change })).toBe(expected);
});
