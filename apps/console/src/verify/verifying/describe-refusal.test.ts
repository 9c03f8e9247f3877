import type { Verdict } from "@agent/verify";
import { expect, test } from "vitest";
import { describeRefusal } from "./describe-refusal.ts";

const code = "receipt.signature_invalid";
const wellFormed = { name: "well_formed", ok: true } as const;
const refuse = (checks: Verdict["checks"]): Verdict => ({
  kind: "receipt",
  valid: false,
  code,
  checks: [wellFormed, ...checks],
  nested: [],
});

test.each([
  [
    "an intact receipt by a key that was not named",
    refuse([
      { name: "intact", ok: true },
      { name: "key_bound", ok: false, code },
    ]),
    /^It was signed by a key that you did not name for its agent\./,
  ],
  [
    "a changed receipt",
    refuse([{ name: "intact", ok: false, code }]),
    /^The receipt is not the one that the agent signed\./,
  ],
])("the page says what is wrong with %s", (_, verdict, expected) => {
  expect(describeRefusal(verdict).reason).toMatch(expected);
});
