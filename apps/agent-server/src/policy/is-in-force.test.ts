import { expect, test } from "vitest";
import { APPROVAL_LIFETIME_MS, isInForce } from "./is-in-force.ts";

const now = 1_790_000_000_000;
const HOUR_MS = APPROVAL_LIFETIME_MS;

test.each([
  ["requested now", 0, true],
  ["requested almost an hour ago", -HOUR_MS + 1, true],
  ["requested an hour ago", -HOUR_MS, false],
  ["requested a second before the clock was set back by two", 1_000, true],
  ["requested before the clock was set back by almost an hour", HOUR_MS - 1, true],
  ["requested before the clock was set back by an hour", HOUR_MS, false],
  ["requested before the clock was set back by a day", 24 * HOUR_MS, false],
])("A27: an approval %s: case %#", (_, requestedAfter, expected) => {
  expect(isInForce(now + requestedAfter + HOUR_MS, now)).toBe(expected);
});
