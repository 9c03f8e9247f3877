import { expect, test } from "vitest";
import { ANSWER_GRACE_MS, selectRepeatableOrders } from "./select-repeatable-orders.ts";

const now = 1_790_000_000_000;
const maxAgeMs = 86_400_000;

test.each<[string, { since: number; answeredAt?: number }, boolean]>([
  ["without an outcome", { since: now - 1 }, true],
  [
    "without an outcome, just before the relay forgets its key",
    { since: now - maxAgeMs + 1 },
    true,
  ],
  ["whose key the relay has forgotten", { since: now - maxAgeMs }, false],
  ["answered a moment before", { since: now - 9, answeredAt: now - 1 }, true],
  [
    "answered so long ago that its caller has the outcome",
    { since: now - ANSWER_GRACE_MS, answeredAt: now - ANSWER_GRACE_MS },
    false,
  ],
  ["of a clock that was set back", { since: now + 9, answeredAt: now + 9 }, true],
])("an order %s is continued by an equal call: case %#", (_, times, isRepeatable) => {
  const plan = { agentId: "worker", excludeAgents: [] };
  const order = { orderHash: "a".repeat(64), idempotencyKey: "b".repeat(64), plan, ...times };
  expect(selectRepeatableOrders([order], { now, maxAgeMs })).toEqual(
    isRepeatable ? { repeatable: [order], over: [] } : { repeatable: [], over: [order] },
  );
});
