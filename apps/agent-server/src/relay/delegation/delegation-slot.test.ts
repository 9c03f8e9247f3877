import { expect, test } from "vitest";
import { owner, type Caller } from "../../caller.ts";
import { buildDelegationSlot } from "./delegation-slot.ts";

const task = { relayTaskId: "task-1" };
const relay: Caller = { kind: "relay", relayId: "relay-1" };
const slotOf = (caller: Caller, ordinal = 0, requestHash = "a".repeat(64)) =>
  buildDelegationSlot({ task, caller, requestHash, ordinal });

test("MN37: attempts at a task of the relay share the slot of each of its delegations", () => {
  expect(slotOf(relay)).toEqual(slotOf(relay));
  expect(slotOf(relay)).toMatchObject({ taskId: "task-1", ordinal: 0 });
  expect(slotOf(relay, 1)).not.toEqual(slotOf(relay));
  expect(slotOf(relay, 0, "b".repeat(64))).not.toEqual(slotOf(relay));
});

test.each<[string, Caller]>([
  ["another agent", { kind: "agent", agentId: "agent-1", trust: "trusted" }],
  ["the owner", owner],
])(
  "MN37: %s that names the id of a task of the relay shares no delegation with it",
  (_, caller) => {
    expect(slotOf(caller)).toBeUndefined();
  },
);
