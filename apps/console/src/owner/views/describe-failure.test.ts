import { expect, test } from "vitest";
import { describeFailure } from "./describe-failure.ts";

test.each([
  ["failed", { result: "no such file" }, { by: "executor", sentence: "no such file" }],
  ["failed", { result: " " }, { by: "relay" }],
  ["failed", { result: { no: "text" } }, { by: "relay" }],
  [
    "expired",
    null,
    {
      by: "relay",
      sentence: "No result arrived in time, so the money went back to the submitter.",
    },
  ],
  ["later", null, { by: "relay", sentence: "It ended, and no reason is known." }],
])(
  "the failure of a task that is %s with the receipt %j has a reason",
  (status, receipt, reason) => {
    expect(describeFailure(status, receipt)).toMatchObject(reason);
  },
);
