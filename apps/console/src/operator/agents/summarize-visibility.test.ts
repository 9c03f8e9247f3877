import { expect, test } from "vitest";
import { summarizeVisibility } from "./summarize-visibility.ts";

const check = (name: string, ok = true) => ({ check: name, ok, detail: "" });
const complete = [check("key"), check("listing")];

test.each([
  ["easy to find", complete, [], { tone: "good", text: "✓ Nothing keeps it from being found." }],
  ["revoked", complete, ["The agent is revoked."], { text: "All checks hold." }],
  [
    "without a listing",
    [check("key"), check("listing", false)],
    ["Fix listing."],
    { tone: "bad", text: "✗ 1 of 2 checks fail." },
  ],
])("the console summarizes the report of an agent that is %s", (_, checks, hints, summary) => {
  expect(summarizeVisibility({ checks, hints })).toEqual(summary);
});
