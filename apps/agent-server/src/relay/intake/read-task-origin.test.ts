import { expect, test } from "vitest";
import { owner, type Caller } from "../../caller.ts";
import { readTaskOrigin } from "./read-task-origin.ts";

const relay: Caller = { kind: "relay", relayId: "r" };
const agent: Caller = { kind: "agent", agentId: "a", trust: "trusted" };

test("E12: the origin of a task is what the agent's relay states, and nothing that another caller states", () => {
  const stated = { submitted_by: "s", estimated_cost: 0.5 };
  expect(readTaskOrigin(relay, stated)).toEqual({ submittedBy: "s", estimatedCost: 0.5 });
  expect(readTaskOrigin(relay, { estimated_cost: 0 })).toEqual({ estimatedCost: 0 });
  expect(readTaskOrigin(relay, { estimated_cost: 0, wall_clock_ms: 2_000 })).toEqual({
    estimatedCost: 0,
    wallClockMs: 2_000,
  });
  for (const caller of [owner, agent]) expect(readTaskOrigin(caller, stated)).toBeUndefined();
});

test.each([undefined, null, "s", [], {}, { submitted_by: 7, estimated_cost: 0 }])(
  "E12: a relay that states %j names no submitter",
  (stated) => {
    expect(readTaskOrigin(relay, stated)).toBeUndefined();
  },
);
