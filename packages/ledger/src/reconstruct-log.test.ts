import { describe, expect, test } from "vitest";
import { hash, buildSignedLedger, buildStep, buildTimeline } from "../test/fixtures.ts";
import { plan, reconstruct, listWarnings, task } from "../test/goal-records.ts";
import { type LedgerStep, crossCheckSteps } from "./index.ts";

describe("ledgers of logs", () => {
  const logged = reconstruct({ events: buildTimeline() });
  const bare = (events: { type: string }[]) => events.map(({ type }) => type);

  test("a ledger of a log has its events, each with its step, and the steps that they record", () => {
    const named = (step_id: string | undefined) => (step_id === undefined ? {} : { step_id });
    const ofStep = ["read", "read", "read", "read", "count", "count", "write", "write"];
    expect(logged.timeline).toEqual(
      buildTimeline().map((event, index) => ({
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
    expect(listWarnings(logged)).toEqual(["ledger.unsigned"]);
  });

  test("records that are not events of a ledger are ignored", () => {
    const [event] = buildTimeline();
    const events = [
      ...buildTimeline(),
      { ...event!, type: "memory_formed" },
      { ...event!, type: "tool_invoked", payload: { tool: "search", args: { q: "s3cret" } } },
      { ...event!, payload: null },
      { ...event!, timestamp: 0.5 },
    ];
    expect(reconstruct({ events })).toEqual(logged);
  });

  test("a ledger of a log keeps only the members of ledger events", () => {
    const secret = { result: "s3cret", args: ["s3cret"] };
    const events = buildTimeline().map(({ payload, ...event }) => ({
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

  test("a ledger of a log is sorted by time", () => {
    expect(reconstruct({ events: buildTimeline().toReversed() })).toEqual(logged);
  });

  test("the log takes precedence over the plan, which adds only missing facts", () => {
    const events = buildTimeline().filter(({ type }) => type.startsWith("step_"));
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
    expect(listWarnings(merged)).toEqual(["ledger.unsigned"]);
  });

  test("the events of a log lie between the start and the end of their plan", () => {
    const events = buildTimeline().slice(2, 6);
    const { timeline: merged } = reconstruct({
      events,
      plans: [{ ...plan, steps: [plan.steps[0]!] }],
    });
    expect(bare(merged).slice(0, 2)).toEqual(["goal_started", "plan_created"]);
    expect(bare(merged).slice(-2)).toEqual(["plan_failed", "goal_completed"]);
    const late = reconstruct({
      events,
      plans: [{ ...plan, created_at: 2e12, steps: plan.steps.slice(0, 1) }],
    });
    expect(late.timeline[1]).toMatchObject({
      timestamp: events[0]?.timestamp,
      type: "plan_created",
    });
  });

  test("a delegated step starts before its delegation", () => {
    const events = buildTimeline().slice(6, 7);
    const { timeline: merged } = reconstruct({ events, tasks: [task] });
    expect(merged.map(({ timestamp, type }) => [timestamp - events[0]!.timestamp, type])).toEqual([
      [0, "goal_started"],
      [0, "step_started"],
      [0, "step_delegated"],
    ]);
  });

  test("the description of a step and its receipt are taken from the plan", () => {
    const delegation = { receipt_hash: hash };
    const steps = [buildStep("count", 1, { description: "of the plan", delegation })];
    const { steps: listed } = reconstruct({
      events: buildTimeline().slice(6, 8),
      plans: [{ ...plan, steps }],
    });
    expect(listed).toMatchObject([{ description: "of the plan", delegation, status: "delegated" }]);
    expect(logged.steps[1]?.description).toBe("do count");
  });

  test("the events of a log are not duplicated by a plan with the same facts", () => {
    const steps = buildSignedLedger().steps;
    const both = reconstruct({ events: buildTimeline(), plans: [{ ...plan, steps }] });
    expect(both.timeline).toEqual(logged.timeline);
  });

  test("a ledger of a log ends with its goal, which is completed unless the end states otherwise", () => {
    const payload = { note: "done" };
    const events = [
      ...buildTimeline().slice(0, -1),
      { timestamp: 2e12, type: "goal_completed", payload },
    ];
    const goal = { status: "active" } as const;
    expect(reconstruct({ events, goal })).toMatchObject({
      status: "completed",
      completed_at: 2e12,
    });
  });

  test("a ledger of a log leaves out the end of a step that never began", () => {
    const payload = { tool_calls_made: 0 };
    const events = [{ timestamp: 0, type: "step_completed", payload }, ...buildTimeline()];
    expect(reconstruct({ events }).timeline).toEqual(logged.timeline);
  });

  test("a ledger contradicts itself if the records do", () => {
    const events = buildTimeline().filter(({ type }) => !type.startsWith("step_"));
    const short = reconstruct({ events });
    expect(crossCheckSteps(short)).toEqual([{ code: "ledger.step_missing", path: "steps" }]);
  });
});
