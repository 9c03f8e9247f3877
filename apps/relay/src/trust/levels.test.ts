import { asMicro, ZERO } from "@agent/budget";
import { createTrustRecord, type TrustLevel } from "@agent/routing-semiring";
import { describe, expect, test } from "vitest";
import {
  BLOCKED,
  getLevelForReader,
  levelName,
  scoreOfLevel,
  toTrustRecord,
  toTrustRow,
  TRUSTED,
  UNKNOWN,
  VERIFIED,
} from "./levels.ts";

const levels: readonly TrustLevel[] = [
  "blocked",
  "unknown",
  "first_contact",
  "verified",
  "trusted",
];

describe("a stored level", () => {
  test.each([...levels.entries()])(
    "the stored level %i is %s, so that rows can be ordered by it",
    (index, level) => {
      expect(levelName(index)).toBe(level);
      const record = { ...createTrustRecord("a", "b", 1), trust_level: level };
      expect(toTrustRow(record, { paid_tasks: 0, fees_kept: ZERO }).trust_level).toBe(index);
    },
  );

  test("a stored level has a score that grows with it, 0 when blocked", () => {
    const scores = levels.map((_, index) => scoreOfLevel(index));
    expect(scores).toEqual([0, 0.1, 0.3, 0.6, 0.9]);
    expect([levelName(BLOCKED), levelName(UNKNOWN)]).toEqual(["blocked", "unknown"]);
  });

  test("a stored level that is not defined reads as unknown", () => {
    expect(levelName(9)).toBe("unknown");
  });
});

test("a record is read as it was stored, without the relay's internal counters", () => {
  const record = { ...createTrustRecord("a", "b", 1), successful_tasks: 3, avg_latency_ms: 2.5 };
  const row = toTrustRow(record, { paid_tasks: 2, fees_kept: asMicro(7) });
  expect(row).toMatchObject({ paid_tasks: 2, fees_kept: 7 });
  expect(toTrustRecord(row)).toEqual(record);
});

test.each([
  ["its own record, even if that blocks", BLOCKED, TRUSTED, BLOCKED],
  ["the agent's payers if it has no record", null, VERIFIED, VERIFIED],
  ["neither if there are none", null, null, UNKNOWN],
])("a reader is shown the level by %s", (_, own_level, payers_level, level) => {
  expect(getLevelForReader({ own_level, payers_level })).toBe(level);
});
