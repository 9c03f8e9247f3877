import { expect, test } from "vitest";
import { describeRefusal } from "./describe-refusal.ts";

test.each([
  [{ code: "network.unreachable", message: "x" }, "The relay does not answer."],
  [
    { code: "response.malformed", message: "Answer 503 is not an error of a relay" },
    "Answer 503 is not an error of a relay, so a proxy or another server may have sent it.",
  ],
  [{ code: "later.code", message: "Something new" }, "Something new."],
  [
    {
      code: "request.invalid",
      message: "Request is invalid",
      issues: [{ path: "amount", message: "must be more than 0" }],
    },
    "Request is invalid. amount: must be more than 0.",
  ],
])("the refusal %j is described", (refusal, sentence) => {
  expect(describeRefusal({ ok: false, status: 400, ...refusal })).toBe(sentence);
});
