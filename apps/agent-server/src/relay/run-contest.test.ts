import { expect, test } from "vitest";
import { describeContest } from "./run-contest.ts";

test.each([
  [
    { bond: 0.1, deadline: 1_767_330_894_827 },
    "contested; bond 0.1 USD; the arbiter decides until 2026-01-02T05:14:54.827Z",
  ],
  [{ bond: 2, deadline: null }, "contested; bond 2 USD; the arbiter decides"],
])("the contest %j is described in words", (contested, text) => {
  expect(describeContest(contested)).toBe(text);
});
