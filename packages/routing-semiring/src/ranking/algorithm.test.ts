import { expect, test } from "vitest";
import { findRules, getAlgorithm } from "./algorithm.ts";

test.each([
  ["the present version", { algorithm: getAlgorithm(false) }, "present"],
  [
    "the present version with a price cap",
    { algorithm: getAlgorithm(false), price_cap: 1 },
    "present",
  ],
  ["the present version of an excerpt", { algorithm: getAlgorithm(true), excerpt: {} }, "present"],
  ["an excerpt as the record of all candidates", { algorithm: getAlgorithm(true) }, undefined],
  ["all candidates as an excerpt", { algorithm: getAlgorithm(false), excerpt: {} }, undefined],
  ["the first version", { algorithm: "agent-routing@1" }, "earlier"],
  ["the first version with a price cap", { algorithm: "agent-routing@1", price_cap: 0 }, undefined],
  ["the second version", { algorithm: "agent-routing@2", price_cap: 0 }, "earlier"],
  ["the second version without a price cap", { algorithm: "agent-routing@2" }, undefined],
  ["the third version", { algorithm: "agent-routing@3", price_cap: 1, excerpt: {} }, "earlier"],
  ["the third version without an excerpt", { algorithm: "agent-routing@3" }, undefined],
  ["a later version", { algorithm: "agent-routing@6" }, undefined],
])("findRules: %s", (_title, record, expected) => {
  expect(findRules(record)).toBe(expected);
});
