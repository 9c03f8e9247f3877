import { canonicalize, sha256Hex } from "@agent/crypto";
import { expect, test } from "vitest";
import { compareArguments } from "./compare-arguments.ts";

const argsHash = sha256Hex(canonicalize({ to: "ann", amount: 5 }));

test.each([
  ['{"amount": 5, "to": "ann"}', "same"],
  ['{"to":"ann","amount":5.0}', "same"],
  ['{"to":"ann","amount":50}', "different"],
  ['{"to":"ann","amount":5,"more":1}', "different"],
  ['["ann"]', "not_json"],
  ["ann", "not_json"],
  ["", "not_json"],
  ['{"id":9007199254740993}', "ambiguous"],
  ['{"amount":50,"amount":5,"to":"ann"}', "ambiguous"],
  [String.raw`{"to":"\ud800"}`, "different"],
])(
  "the comparison of the arguments %s with the hash of the call results in %s",
  (text, verdict) => {
    expect(compareArguments(text, argsHash)).toBe(verdict);
  },
);
