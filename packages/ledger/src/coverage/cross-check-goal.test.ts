import { describe, expect, test } from "vitest";
import { spaceBySecond, buildSignedLedger } from "../../test/fixtures.ts";
import { crossCheckGoal, type Ledger, type LedgerEvent } from "../index.ts";

type EventParts = Pick<LedgerEvent, "type" | "payload">;

const goalFaults = (changes: Partial<Ledger>) =>
  crossCheckGoal({ ...buildSignedLedger(), ...changes }).map(({ code, path }) => `${code} ${path}`);

describe("the goal of a ledger is compared with its timeline", () => {
  test.each<[Partial<Ledger>, string[]]>([
    [{}, []],
    [{ goal_id: "x" }, ["ledger.goal_mismatch timeline.0.payload.goal_id"]],
    [{ plan_id: "x" }, ["ledger.plan_mismatch plan_id"]],
    [{ status: "completed" }, ["ledger.status_mismatch status"]],
    [{ started_at: 0, completed_at: null, steps: [] }, []],
  ])("a goal with %j has the faults %j", (changes, faults) => {
    expect(goalFaults(changes)).toEqual(faults);
  });

  test("members of a goal that the timeline does not mention are not faults", () => {
    expect(goalFaults({ goal_id: "x", plan_id: "x", status: "paused", timeline: [] })).toEqual([]);
    const nameless = spaceBySecond({ type: "goal_completed", payload: {} });
    expect(goalFaults({ timeline: nameless })).toEqual([]);
  });

  test("the end of a goal counts whatever the timeline records after it", () => {
    const timeline = spaceBySecond(
      { type: "goal_completed", payload: { status: "failed" } },
      { type: "plan_completed", payload: {} },
    );
    expect(goalFaults({ timeline, status: "failed" })).toEqual([]);
    expect(goalFaults({ timeline, status: "completed" })).toEqual([
      "ledger.status_mismatch status",
    ]);
  });

  test("a goal's plan must be one of those that were created for it", () => {
    const plan = (plan_id: string): EventParts => ({
      type: "plan_created",
      payload: { plan_id, title: "", total_steps: 0 },
    });
    const replanned = { timeline: spaceBySecond(plan("first"), plan("second")) };
    expect(goalFaults({ ...replanned, plan_id: "second" })).toEqual([]);
    expect(goalFaults({ ...replanned, plan_id: "third" })).toEqual([
      "ledger.plan_mismatch plan_id",
    ]);
  });
});
