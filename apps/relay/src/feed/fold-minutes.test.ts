import { expect, test } from "vitest";
import { MINUTE_MS } from "../clock/durations.ts";
import { foldEvents } from "./fold-minutes.ts";

const event = (type: string, at: number, members: object = {}) => ({
  type,
  at,
  body: JSON.stringify(members),
});

test("the events of each minute and the ended tasks by state are added up", () => {
  const next = 7 * MINUTE_MS;
  const { ended, minutes } = foldEvents([
    event("task.submitted", 1),
    event("task.claimed", 2),
    event("money.settled", 3, { amount: 2, fee: 0.1 }),
    event("task.completed", 3, { duration_ms: 2 }),
    event("task.submitted", next - 1),
    event("task.failed", next, { duration_ms: 50 }),
    event("task.denied", next, { duration_ms: 9 }),
    event("task.expired", next + 1),
    event("task.cancelled", next + 1),
    event("money.deposited", next + 2, { amount: 100 }),
    event("agent.registered", next + 3),
  ]);
  expect(Object.fromEntries(ended)).toEqual({
    completed: 1,
    failed: 1,
    denied: 1,
    expired: 1,
    cancelled: 1,
  });
  const none = { submitted: 0, completed: 0, failed: 0, expired: 0, settled: 0, fees: 0 };
  expect(Object.fromEntries(minutes)).toEqual({
    0: { ...none, submitted: 1, completed: 1, settled: 2_000_000, fees: 100_000, durations: [2] },
    6: { ...none, submitted: 1, durations: [] },
    7: { ...none, failed: 2, expired: 1, durations: [50, 9] },
  });
});
