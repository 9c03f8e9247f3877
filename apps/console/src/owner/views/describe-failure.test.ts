import { expect, test } from "vitest";
import { describeFailure } from "./describe-failure.ts";

test.each([
  ["failed", { result: "no such file" }, { by: "executor", sentence: "no such file" }],
  ["failed", { result: " " }, { by: "relay" }],
  ["failed", { result: { no: "text" } }, { by: "relay" }],
  ["expired", null, { by: "relay", sentence: "No result arrived in time; the money went back." }],
  ["later", null, { by: "relay", sentence: "It ended without a reason." }],
])("a task that is %s with the receipt %j has a reason", (status, receipt, reason) => {
  expect(describeFailure(status, receipt)).toMatchObject(reason);
});
