import { canonicalize, sha256Hex } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import { agentId, goalId, receipt, taskId } from "../../test/fixtures.ts";
import {
  emptyRecords,
  plan,
  reconstruct,
  listWarnings,
  task,
  listEventTypes,
} from "../../test/goal-records.ts";
import { reconstructLedger, verifyLedger } from "../index.ts";

describe("ledgers of plans and tasks", () => {
  const ledger = reconstruct({ plans: [plan], tasks: [task] });

  test("a ledger of plans and tasks records the implied events in the order of their times", () => {
    expect(listEventTypes(ledger)).toEqual([
      [5, "goal_started", { goal_id: goalId }],
      [5, "plan_created", { plan_id: "plan", title: "Count", total_steps: 4 }],
      [10, "step_started", { step_id: "read", ordinal: 0, description: "do read" }],
      [20, "step_completed", { tool_calls_made: 2, step_id: "read" }],
      [25, "step_started", { step_id: "count", ordinal: 1, description: "do count" }],
      [30, "step_delegated", { task_id: taskId, step_id: "count" }],
      [40, "step_started", { step_id: "write", ordinal: 2, description: "do write" }],
      [50, "step_failed", { step_id: "write" }],
      [50, "plan_failed", { reason: "not recorded" }],
      [50, "goal_completed", { status: "failed" }],
    ]);
  });

  test("a ledger of plans and tasks is a valid unsigned ledger without contradictions", () => {
    expect(ledger).toMatchObject({
      agent_id: agentId,
      goal_id: goalId,
      plan_id: "plan",
      started_at: 5,
      completed_at: 50,
      status: "failed",
    });
    expect(verifyLedger(ledger).valid).toBe(true);
    expect(listWarnings(ledger)).toEqual(["ledger.unsigned"]);
  });

  test("a ledger of plans and tasks refers to the receipts of its tasks by hash and by summary", () => {
    const [, delegated] = ledger.steps;
    expect(delegated?.delegation).toEqual({ receipt_hash: sha256Hex(canonicalize(receipt)) });
    expect(ledger.delegation_receipts).toEqual([
      {
        task_id: taskId,
        agent_id: receipt.agent_id,
        device_id: "device",
        status: "completed",
        tools_used: ["search"],
        signature_prefix: "IWMiGta5gSiusivb",
      },
    ]);
    expect(JSON.stringify(ledger)).not.toContain("Forty-two");
  });

  test("a ledger of plans and tasks refers to no receipt of an open task", () => {
    const waiting = reconstruct({ plans: [plan], tasks: [{ ...task, receipt: null }] });
    expect(waiting.steps[1]).not.toHaveProperty("delegation");
    expect(waiting.delegation_receipts).toEqual([]);
  });

  test("a step that only a task names is recorded", () => {
    const alone = reconstruct({ tasks: [task] });
    expect(listEventTypes(alone)).toEqual([
      [30, "goal_started", { goal_id: goalId }],
      [30, "step_delegated", { task_id: taskId, step_id: "count" }],
    ]);
    expect(alone.steps).toMatchObject([{ step_id: "count", ordinal: 0, status: "delegated" }]);
  });

  test("a step starts with its task if the plan was not updated", () => {
    const late = reconstruct({ plans: [plan], tasks: [{ ...task, step_id: "tidy" }] });
    expect(listEventTypes(late).slice(5, 7)).toEqual([
      [30, "step_started", { step_id: "tidy", ordinal: 3, description: "do tidy" }],
      [30, "step_delegated", { task_id: taskId, step_id: "tidy" }],
    ]);
    expect(late.steps[3]?.status).toBe("delegated");
  });

  test("a plan that was stored late is recorded before its steps", () => {
    expect(
      reconstruct({ plans: [{ ...plan, created_at: 99 }] }).timeline.slice(0, 2),
    ).toMatchObject([
      { timestamp: 10, type: "goal_started" },
      { timestamp: 10, type: "plan_created" },
    ]);
  });

  test("a ledger of plans and tasks has no end while its goal is open", () => {
    const active = reconstruct({ plans: [{ ...plan, status: "active" }] });
    expect(active).toMatchObject({ status: "active", completed_at: null });
    expect(active.timeline.at(-1)?.type).toBe("step_failed");
  });

  test("a step is kept in its newest plan only", () => {
    const newer = { ...plan, plan_id: "newer", created_at: 60, steps: plan.steps.slice(2) };
    const replanned = reconstruct({ plans: [plan, newer] });
    expect(replanned.plan_id).toBe("newer");
    expect(replanned.steps.map(({ step_id }) => step_id)).toEqual([
      "read",
      "count",
      "write",
      "tidy",
    ]);
    expect(listWarnings(replanned)).toEqual(["ledger.unsigned"]);
  });
});

describe("ledgers of a task alone", () => {
  test("a ledger of a task alone has its start and its end", () => {
    const goal = { started_at: 3, completed_at: 9, status: "completed" } as const;
    const ledger = reconstruct({ goal });
    expect(listEventTypes(ledger)).toEqual([
      [3, "goal_started", { goal_id: goalId }],
      [9, "goal_completed", { status: "completed" }],
    ]);
    expect(ledger).toMatchObject({ plan_id: "", steps: [], started_at: 3, completed_at: 9 });
    expect(listWarnings(ledger)).toEqual(["ledger.unsigned"]);
  });

  test("a ledger of a task alone has no end while it is open", () => {
    const ledger = reconstruct({ goal: { started_at: 3 } });
    expect(ledger).toMatchObject({ status: "active", completed_at: null });
    expect(ledger.timeline).toHaveLength(1);
  });

  test("a ledger starts no later than the first event and ends no earlier than the last", () => {
    const goal = { started_at: 7, completed_at: 30, status: "completed" } as const;
    const ledger = reconstruct({ goal, plans: [plan] });
    expect(ledger).toMatchObject({ started_at: 5, completed_at: 50, status: "completed" });
    const longer = reconstruct({
      goal: { ...goal, started_at: 1, completed_at: 70 },
      plans: [plan],
    });
    expect(longer).toMatchObject({ started_at: 1, completed_at: 70 });
  });
});

test("records without any time give no ledger", () => {
  expect(reconstructLedger(emptyRecords)).toBeNull();
  expect(reconstructLedger({ ...emptyRecords, goal: { status: "completed" } })).toBeNull();
  expect(reconstructLedger({ ...emptyRecords, tasks: [{ ...task, step_id: null }] })).toBeNull();
});
