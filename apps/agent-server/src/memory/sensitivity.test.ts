import { expect, test } from "vitest";
import { sensitivities, pickStricterSensitivity, parseSensitivity } from "./sensitivity.ts";

test.each([
  [undefined, "none"],
  ["none", "none"],
  ["personal", "personal"],
])("accepts a note of sensitivity %s", (given, expected) => {
  expect(parseSensitivity(given)).toBe(expected);
});

test.each([
  "medical",
  "financial",
  "secret",
  "None",
  "PERSONAL",
  " none",
  "",
  "public",
  "__proto__",
])("refuses a note of sensitivity %j", (given) => {
  expect(parseSensitivity(given)).toBeUndefined();
});

test("picks the stricter of two sensitivities in either order", () => {
  for (const [index, low] of sensitivities.entries()) {
    for (const high of sensitivities.slice(index)) {
      expect([pickStricterSensitivity(low, high), pickStricterSensitivity(high, low)]).toEqual([
        high,
        high,
      ]);
    }
  }
});
