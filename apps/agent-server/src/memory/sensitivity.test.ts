import { expect, test } from "vitest";
import { sensitivities, pickStricterSensitivity, parseSensitivity } from "./sensitivity.ts";

test.each([
  [undefined, "none"],
  ["none", "none"],
  ["personal", "personal"],
])("a note of sensitivity %s is accepted", (given, expected) => {
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
])("a note of sensitivity %j is refused", (given) => {
  expect(parseSensitivity(given)).toBeUndefined();
});

test("the stricter of two sensitivities is picked in either order", () => {
  for (const [index, low] of sensitivities.entries()) {
    for (const high of sensitivities.slice(index)) {
      expect([pickStricterSensitivity(low, high), pickStricterSensitivity(high, low)]).toEqual([
        high,
        high,
      ]);
    }
  }
});
