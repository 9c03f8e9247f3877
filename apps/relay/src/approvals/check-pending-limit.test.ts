import { limits } from "@agent/wire";
import { expect, test } from "vitest";
import { checkPendingLimit } from "./check-pending-limit.ts";

const most = limits.pendingApprovals;

test.each<[string, Record<string, number>, boolean]>([
  ["nothing waits", {}, false],
  ["each approver can take one more", { ann: most - 1, bob: most - 1 }, false],
  ["one of its approvers has too many requests", { ann: most, bob: 1 }, true],
  ["an approver got more requests before there was a limit", { bob: most + 1 }, true],
])("a request for an approval is checked against the limit when %s", (_, counts, isRefused) => {
  const pending = Object.entries(counts).map(([approver_id, count]) => ({ approver_id, count }));
  const refusal = checkPendingLimit(pending);
  expect(refusal?.code).toBe(isRefused ? "approval.too_many" : undefined);
});
