import { expect, test } from "vitest";
import { hasEarned } from "./find-own-records.ts";

const step = (old_public_key: string) => ({ old_public_key });

test.each([
  ["no work", [], undefined, true],
  ["work under its key", ["k2"], undefined, true],
  ["work under a key that its chain replaced", ["k1"], [step("k0"), step("k1")], true],
  ["work under both", ["k2", "k0"], [step("k0"), step("k1")], true],
  ["work under a key without a chain from it", ["k1"], undefined, false],
  ["work under its key and under another's", ["k2", "k9"], [step("k1")], false],
])("A33: an agent under the key k2 and %s", (_, workKeys, succession, expected) => {
  expect(hasEarned({ public_key: "k2", succession }, workKeys)).toBe(expected);
});
