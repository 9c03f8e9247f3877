import { expect, test } from "vitest";
import { isUnpaid } from "./is-unpaid.ts";

test.each([
  ["task.cancelled", 0, "t", true],
  ["task.not_found", 404, "t", true],
  ["delegation.timed_out", 0, "t", false],
  ["network.aborted", 0, "t", false],
  ["receipt.signature_invalid", 0, "t", false],
  ["budget.insufficient", 402, undefined, true],
  ["task.target_blocked", 403, undefined, true],
  ["idempotency.key_reused", 422, undefined, false],
  ["idempotency.key_in_use", 409, undefined, false],
  ["rate.exceeded", 429, undefined, false],
  ["network.unreachable", 0, undefined, false],
  ["server.failed", 500, undefined, false],
])(
  "MN37: after %s with the status %i and the task %s, no task is paid: %s",
  (code, status, taskId, expected) => {
    expect(isUnpaid({ code, status, taskId })).toBe(expected);
  },
);
