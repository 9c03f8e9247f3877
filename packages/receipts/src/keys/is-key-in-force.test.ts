import { describe, expect, test } from "vitest";
import { filterKeysInForce } from "../index.ts";
import { isKeyInForce } from "./is-key-in-force.ts";

const minute = 60_000;
const born = 1_000 * minute;
const end = 2_000 * minute;
const own = { validFrom: born, validUntil: end, isDevice: false };
const inUse = { ...own, validUntil: null };
const device = { ...own, isDevice: true };

/** Times relative to the key's end. */
const at = (submitted: number, completed: number, received: number) => ({
  submittedAt: end + submitted,
  completedAt: end + completed,
  receivedAt: end + received,
});

describe("G4: a former key", () => {
  test.each<[string, boolean, ReturnType<typeof at>]>([
    ["counts before its end", true, at(-10, -5, -1)],
    ["counts for what was submitted just before its end", true, at(-1, 0, 1)],
    ["does not count for what was submitted at its end", false, at(0, 0, 1)],
    ["does not count for what was submitted after its end", false, at(1, 0, 2)],
    ["counts within five minutes of its end", true, at(-1, 5 * minute - 1, 60 * minute)],
    ["does not count five minutes after its end", false, at(-1, 5 * minute, 60 * minute)],
    [
      "counts for a receipt that comes days after it was completed",
      true,
      at(-2, -1, 9_000 * minute),
    ],
    ["counts for a receipt of a clock that is ahead", true, at(-2, 30 * minute, minute)],
    [
      "does not count for one of a clock ahead that came late",
      false,
      at(-2, 30 * minute, 6 * minute),
    ],
  ])("G4: a former key %s", (_, counts, times) => {
    expect(isKeyInForce(own, times)).toBe(counts);
  });
});

describe("G4: the beginning and a device", () => {
  test.each<[string, boolean, Parameters<typeof isKeyInForce>]>([
    ["a key in use counts whenever it was completed", true, [inUse, at(0, -9_000 * minute, 0)]],
    [
      "a key that came a minute after the receipt counts",
      true,
      [inUse, { ...at(0, 0, 0), receivedAt: born - minute }],
    ],
    [
      "a key that came later does not count",
      false,
      [inUse, { ...at(0, 0, 0), receivedAt: born - minute - 1 }],
    ],
    ["a device's key counts until it is revoked", true, [device, at(-2, 9, -1)]],
    ["a device's key does not count from then on", false, [device, at(-2, -1, 0)]],
  ])("G4: %s", (_, counts, [term, times]) => {
    expect(isKeyInForce(term, times)).toBe(counts);
  });
});

test("G4: of keys that ended before a receipt arrived, only an agent's own counts, for what it completed", () => {
  const stored = { valid_from: born, valid_until: end };
  const [agents, agentsWithNull] = [stored, { ...stored, device_id: null }];
  const lost = { ...stored, device_id: "device" };
  const keys = [lost, agents, { ...lost, valid_until: null }, agentsWithNull];
  expect(filterKeysInForce(keys, at(-2, -1, 1))).toEqual([agents, keys[2], agentsWithNull]);
  expect(filterKeysInForce(keys, at(-2, -1, -1))).toEqual(keys);
});
