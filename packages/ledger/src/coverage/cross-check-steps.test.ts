import { describe, expect, test } from "vitest";
import {
  spaceBySecond,
  goalId,
  hash,
  buildSignedLedger,
  buildStep,
  buildSteps,
  taskId,
  buildTimeline,
} from "../../test/fixtures.ts";
import { crossCheckSteps, type Ledger, type LedgerStep } from "../index.ts";

const stepFaults = (changes: Partial<Ledger>) =>
  crossCheckSteps({ ...buildSignedLedger(), ...changes }).map(
    ({ code, path }) => `${code} ${path}`,
  );
const call = {
  type: "tool_invoked",
  payload: { tool: "sum", args_hash: hash, call_id: "c", step_id: "x" },
} as const;
/** The members of a running step that made the call. */
const called: Partial<LedgerStep> = { status: "running", tools_used: ["sum"], tool_calls: 1 };
/** Returns the steps of the fixture, one of them changed. */
const changed = (index: number, changes: Partial<LedgerStep>) =>
  stepFaults({ steps: buildSteps().with(index, { ...buildSteps()[index]!, ...changes }) });

describe("the steps of a ledger are compared with its timeline", () => {
  test("a correct ledger has no fault in its steps", () => {
    expect(stepFaults({})).toEqual([]);
  });

  test.each<[string, string[], string[]]>([
    [
      "a failed step listed as completed",
      changed(2, { status: "completed" }),
      ["step_status_mismatch steps.2.status"],
    ],
    [
      "a completed step listed as failed",
      changed(0, { status: "failed" }),
      ["step_status_mismatch steps.0.status"],
    ],
    [
      "a step listed as still to do",
      changed(0, { status: "pending" }),
      ["step_status_mismatch steps.0.status"],
    ],
    [
      "a delegated step listed as completed",
      changed(1, { status: "completed" }),
      ["step_status_mismatch steps.1.status"],
    ],
    [
      "another place in the plan",
      changed(0, { ordinal: 1 }),
      ["step_ordinal_mismatch steps.0.ordinal"],
    ],
    ["a tool left out", changed(0, { tools_used: [] }), ["step_tools_mismatch steps.0.tools_used"]],
    [
      "a call left out",
      changed(0, { tool_calls: 0 }),
      ["step_tool_calls_mismatch steps.0.tool_calls"],
    ],
    [
      "a call made up",
      changed(0, { tool_calls: 2 }),
      ["step_tool_calls_mismatch steps.0.tool_calls"],
    ],
    [
      "a delegation made up",
      changed(0, { delegation: { receipt_hash: hash } }),
      ["step_delegation_mismatch steps.0.delegation"],
    ],
    [
      "another step",
      changed(0, { step_id: "x" }),
      ["step_unrecorded steps.0.status", "step_unlisted timeline.2"],
    ],
    [
      "a step left out",
      stepFaults({ steps: buildSteps().slice(1) }),
      ["step_unlisted timeline.2", "step_missing steps"],
    ],
    [
      "a step twice",
      stepFaults({ steps: [...buildSteps(), buildSteps()[0]!] }),
      ["step_repeated steps.3.step_id"],
    ],
    [
      "a step of which nothing was recorded",
      stepFaults({ steps: [...buildSteps(), buildStep("x", 3, { status: "completed" })] }),
      ["step_unrecorded steps.3.status"],
    ],
    [
      "a call left out of a step that still runs",
      stepFaults({ timeline: spaceBySecond(call), steps: [buildStep("x", 0, { ...called, tool_calls: 0 })] }),
      ["step_tool_calls_mismatch steps.0.tool_calls"],
    ],
  ])("the comparison of steps finds %s", (_, faults, found) => {
    expect(faults).toEqual(found.map((fault) => `ledger.${fault}`));
  });

  test.each<[string, string[]]>([
    [
      "steps that never began",
      stepFaults({
        steps: [...buildSteps(), buildStep("x", 3, {}), buildStep("y", 4, { status: "skipped" })],
      }),
    ],
    ["another description", changed(0, { description: "x" })],
    ["other times", changed(0, { started_at: 0, completed_at: 1 })],
    ["a tool of a call that was not recorded", changed(0, { tools_used: ["read_file", "x"] })],
    ["calls of a step without an end that were not recorded", changed(2, { tool_calls: 5 })],
    [
      "any ordinal of a step that only its calls name",
      stepFaults({ timeline: spaceBySecond(call), steps: [buildStep("x", 7, called)] }),
    ],
    [
      "a completion that states fewer calls than were recorded",
      stepFaults({
        timeline: spaceBySecond(call, {
          type: "step_completed",
          payload: { tool_calls_made: 0, step_id: "x" },
        }),
        steps: [buildStep("x", 0, { ...called, status: "completed" })],
      }),
    ],
  ])("the comparison of steps accepts %s", (_, faults) => {
    expect(faults).toEqual([]);
  });

  test("a missing step of the plan that never began is found", () => {
    const total_steps = 4;
    const events = buildTimeline().map((event) =>
      event.type === "plan_created"
        ? { ...event, payload: { ...event.payload, total_steps } }
        : event,
    );
    expect(stepFaults({ timeline: events })).toEqual(["ledger.step_missing steps"]);
    expect(
      stepFaults({ timeline: events, steps: [...buildSteps(), buildStep("x", 3, {})] }),
    ).toEqual([]);
    expect(stepFaults({ timeline: events, steps: [...buildSteps(), buildSteps()[0]!] })).toEqual([
      "ledger.step_repeated steps.3.step_id",
      "ledger.step_missing steps",
    ]);
  });

  test("a timeline that records no step contradicts no step", () => {
    const silent = spaceBySecond({ type: "goal_started", payload: { goal_id: goalId } });
    expect(stepFaults({ timeline: silent })).toEqual([]);
  });

  test("an end without a start is found, but not a tool call without one", () => {
    const [call] = buildTimeline().filter(({ type }) => type === "tool_invoked");
    const events = spaceBySecond(
      call!,
      { type: "step_completed", payload: { tool_calls_made: 1 } },
      { type: "step_failed", payload: {} },
      { type: "step_delegated", payload: { task_id: taskId } },
    );
    expect(stepFaults({ timeline: events, steps: [] })).toEqual(
      [1, 2, 3].map((index) => `ledger.event_without_step timeline.${index}`),
    );
  });
});
