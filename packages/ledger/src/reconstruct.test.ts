import { canonicalize, sha256Hex } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import { agentId, goalId, receipt, signed, step, taskId, timeline } from "../test/fixtures.ts";
import {
  crossCheckSteps,
  type DelegatedTask,
  type GoalRecords,
  type Ledger,
  type LedgerStep,
  type PlanRecord,
  reconstructLedger,
  verifyLedger,
} from "./index.ts";

const nothing: GoalRecords = { agentId, goalId, plans: [], tasks: [], events: [] };

function reconstruct(records: Partial<GoalRecords>): Ledger {
  const ledger = reconstructLedger({ ...nothing, ...records });
  if (ledger === null) throw new Error("nothing to reconstruct");
  return ledger;
}

const told = ({ timeline: events }: Ledger) =>
  events.map(({ timestamp, type, payload }) => [timestamp, type, payload]);
const remarks = (ledger: Ledger) =>
  verifyLedger(ledger)
    .checks.filter(({ ok }) => !ok)
    .map(({ code }) => code);

const task: DelegatedTask = { task_id: taskId, step_id: "count", submitted_at: 30, receipt };

const plan: PlanRecord = {
  plan_id: "plan",
  title: "Count",
  status: "failed",
  created_at: 5,
  steps: [
    step("read", 0, {
      status: "completed",
      tools_used: ["read_file"],
      tool_calls: 2,
      started_at: 10,
      completed_at: 20,
    }),
    step("count", 1, { status: "delegated", started_at: 25 }),
    step("write", 2, { status: "failed", started_at: 40, completed_at: 50 }),
    step("tidy", 3, {}),
  ],
};

describe("a ledger of plans and tasks", () => {
  const ledger = reconstruct({ plans: [plan], tasks: [task] });

  test("tells what they imply, in the order of its times", () => {
    expect(told(ledger)).toEqual([
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

  test("is a valid ledger that nobody signed and nothing contradicts", () => {
    expect(ledger).toMatchObject({
      agent_id: agentId,
      goal_id: goalId,
      plan_id: "plan",
      started_at: 5,
      completed_at: 50,
      status: "failed",
    });
    expect(verifyLedger(ledger).valid).toBe(true);
    expect(remarks(ledger)).toEqual(["ledger.unsigned"]);
  });

  test("points to the receipts of its tasks by hash and by summary", () => {
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

  test("points to no receipt of a task that has none yet", () => {
    const waiting = reconstruct({ plans: [plan], tasks: [{ ...task, receipt: null }] });
    expect(waiting.steps[1]).not.toHaveProperty("delegation");
    expect(waiting.delegation_receipts).toEqual([]);
  });

  test("tells of a step that only a task names", () => {
    const alone = reconstruct({ tasks: [task] });
    expect(told(alone)).toEqual([
      [30, "goal_started", { goal_id: goalId }],
      [30, "step_delegated", { task_id: taskId, step_id: "count" }],
    ]);
    expect(alone.steps).toMatchObject([{ step_id: "count", ordinal: 0, status: "delegated" }]);
  });

  test("of a goal that goes on has no end", () => {
    const active = reconstruct({ plans: [{ ...plan, status: "active" }] });
    expect(active).toMatchObject({ status: "active", completed_at: null });
    expect(active.timeline.at(-1)?.type).toBe("step_failed");
  });

  test("keeps a step in its newest plan only", () => {
    const newer = { ...plan, plan_id: "newer", created_at: 60, steps: plan.steps.slice(2) };
    const replanned = reconstruct({ plans: [plan, newer] });
    expect(replanned.plan_id).toBe("newer");
    expect(replanned.steps.map(({ step_id }) => step_id)).toEqual([
      "read",
      "count",
      "write",
      "tidy",
    ]);
    expect(remarks(replanned)).toEqual(["ledger.unsigned"]);
  });
});

describe("a ledger of a log", () => {
  const logged = reconstruct({ events: timeline() });
  const bare = (events: { type: string }[]) => events.map(({ type }) => type);

  test("has its events, each with its step, and the steps that they tell of", () => {
    const named = (step_id: string | undefined) => (step_id === undefined ? {} : { step_id });
    const ofStep = ["read", "read", "read", "read", "count", "count", "write", "write"];
    expect(logged.timeline).toEqual(
      timeline().map((event, index) => ({
        ...event,
        payload: { ...event.payload, ...named(ofStep[index - 2]) },
      })),
    );
    expect(logged.steps.map(({ step_id, status }) => [step_id, status])).toEqual([
      ["read", "completed"],
      ["count", "delegated"],
      ["write", "failed"],
    ]);
    expect(logged).toMatchObject({ plan_id: "plan", status: "failed" });
    expect(remarks(logged)).toEqual(["ledger.unsigned"]);
  });

  test("passes over what is no event of a ledger", () => {
    const [event] = timeline();
    const events = [
      ...timeline(),
      { ...event!, type: "memory_formed" },
      { ...event!, type: "tool_invoked", payload: { tool: "search", args: { q: "s3cret" } } },
      { ...event!, payload: null },
      { ...event!, timestamp: 0.5 },
    ];
    expect(reconstruct({ events })).toEqual(logged);
  });

  test("keeps nothing of a record but what a ledger tells", () => {
    const secret = { result: "s3cret", args: ["s3cret"] };
    const events = timeline().map(({ payload, ...event }) => ({
      ...event,
      ...secret,
      payload: { ...payload, ...secret },
    }));
    expect(reconstruct({ events })).toEqual(logged);
    const plans = [
      { ...plan, ...secret, steps: plan.steps.map((each) => ({ ...each, ...secret })) },
    ];
    expect(reconstruct({ plans })).toEqual(reconstruct({ plans: [plan] }));
  });

  test("is put into the order of its times", () => {
    expect(reconstruct({ events: timeline().toReversed() })).toEqual(logged);
  });

  test("has the last word on a step, and the plan on what the log does not tell", () => {
    const events = timeline().filter(({ type }) => type.startsWith("step_"));
    const steps = plan.steps.map((each): LedgerStep => ({ ...each, status: "completed" }));
    const merged = reconstruct({ events, plans: [{ ...plan, steps, status: "completed" }] });
    expect(merged.steps.map(({ status }) => status)).toEqual([
      "completed",
      "completed",
      "failed",
      "completed",
    ]);
    expect(bare(merged.timeline)).toEqual(
      expect.arrayContaining(["goal_started", "plan_created", "plan_completed", "goal_completed"]),
    );
    expect(remarks(merged)).toEqual(["ledger.unsigned"]);
  });

  test("and a plan that tell the same are told once", () => {
    const steps = signed().steps;
    const both = reconstruct({ events: timeline(), plans: [{ ...plan, steps }] });
    expect(both.timeline).toEqual(logged.timeline);
  });

  test("ends with its goal, completed unless the end says otherwise", () => {
    const payload = { note: "done" };
    const events = [
      ...timeline().slice(0, -1),
      { timestamp: 2e12, type: "goal_completed", payload },
    ];
    const goal = { status: "active" } as const;
    expect(reconstruct({ events, goal })).toMatchObject({
      status: "completed",
      completed_at: 2e12,
    });
  });

  test("without an event that ends a step where none began", () => {
    const payload = { tool_calls_made: 0 };
    const events = [{ timestamp: 0, type: "step_completed", payload }, ...timeline()];
    expect(reconstruct({ events }).timeline).toEqual(logged.timeline);
  });

  test("contradicts itself where the records do", () => {
    const events = timeline().filter(({ type }) => !type.startsWith("step_"));
    const short = reconstruct({ events });
    expect(crossCheckSteps(short)).toEqual([{ code: "ledger.step_missing", path: "steps" }]);
  });
});

describe("a ledger of a task alone", () => {
  test("has its beginning and its end", () => {
    const goal = { started_at: 3, completed_at: 9, status: "completed" } as const;
    const ledger = reconstruct({ goal });
    expect(told(ledger)).toEqual([
      [3, "goal_started", { goal_id: goalId }],
      [9, "goal_completed", { status: "completed" }],
    ]);
    expect(ledger).toMatchObject({ plan_id: "", steps: [], started_at: 3, completed_at: 9 });
    expect(remarks(ledger)).toEqual(["ledger.unsigned"]);
  });

  test("has no end while it is open", () => {
    const ledger = reconstruct({ goal: { started_at: 3 } });
    expect(ledger).toMatchObject({ status: "active", completed_at: null });
    expect(ledger.timeline).toHaveLength(1);
  });

  test("does not begin after its first event or end before its last", () => {
    const goal = { started_at: 7, completed_at: 30, status: "completed" } as const;
    const ledger = reconstruct({ goal, plans: [plan] });
    expect(ledger).toMatchObject({ started_at: 5, completed_at: 50, status: "completed" });
  });
});

test("nothing is made of nothing", () => {
  expect(reconstructLedger(nothing)).toBeNull();
  expect(reconstructLedger({ ...nothing, goal: { status: "completed" } })).toBeNull();
  expect(reconstructLedger({ ...nothing, tasks: [{ ...task, step_id: null }] })).toBeNull();
});
