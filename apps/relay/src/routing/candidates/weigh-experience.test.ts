import { expect, test } from "vitest";
import { BLOCKED, TRUSTED, UNKNOWN, VERIFIED } from "../../trust/levels.ts";
import { NO_HISTORY, weighExperience, type AskerRecord } from "./weigh-experience.ts";

const paid = { successes: 8, counted: 10, avg_latency_ms: 400 };
const others = { trust: 0.3, history: paid, promisedLatencyMs: null };

const own = (trust_level: number, successes = 0, failures = 0): AskerRecord => ({
  trust_level,
  successes,
  counted: successes + failures,
  avg_latency_ms: successes > 0 ? 900 : null,
});

test.each([
  [
    "without a record",
    undefined,
    1,
    { trust_score: 0.3, blocked: false, successes: 8, counted: 10 },
  ],
  ["whose tasks did not count", own(UNKNOWN), 1, { trust_score: 0.1, successes: 8, counted: 10 }],
  ["with a failure", own(UNKNOWN, 0, 1), 1, { trust_score: 0.1, successes: 0, counted: 1 }],
  ["with successes", own(VERIFIED, 5), 1, { trust_score: 0.6, successes: 5, counted: 5 }],
  ["that blocked the agent", own(BLOCKED, 5), 1, { trust_score: 0, blocked: true }],
  ["with successes through a peer", own(TRUSTED, 20), 0.5, { trust_score: 0.45, successes: 20 }],
  ["without a record through a peer", undefined, 0.5, { trust_score: 0.3, successes: 8 }],
])("an asker %s weighs what others state", (_, record, reach, expected) => {
  expect(weighExperience(record, others, reach)).toMatchObject(expected);
});

test("a measured latency counts only beside a history", () => {
  expect(weighExperience(own(UNKNOWN, 0, 1), others).avg_latency_ms).toBe(null);
  const unheard = { ...others, history: NO_HISTORY };
  expect(weighExperience(undefined, unheard).avg_latency_ms).toBe(null);
});
