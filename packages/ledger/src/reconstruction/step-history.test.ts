import { describe, expect, test } from "vitest";
import { spaceBySecond, hash, taskId } from "../../test/fixtures.ts";
import type { LedgerEvent, StepStatus } from "../index.ts";
import { buildStepHistories } from "./step-history.ts";

type EventParts = Pick<LedgerEvent, "type" | "payload">;

const statusesAfter = (...parts: EventParts[]) => {
  const { histories } = buildStepHistories(spaceBySecond(...parts));
  return Object.fromEntries([...histories].map(([stepId, { status }]) => [stepId, status]));
};

describe("an event that names no step belongs to the last open one", () => {
  const start = (step_id: string): EventParts => ({
    type: "step_started",
    payload: { step_id, ordinal: 0, description: "" },
  });
  const done: EventParts = { type: "step_completed", payload: { tool_calls_made: 0 } };
  const failed: EventParts = { type: "step_failed", payload: {} };
  const delegated: EventParts = { type: "step_delegated", payload: { task_id: taskId } };
  const of = (parts: EventParts, step_id: string) =>
    ({ ...parts, payload: { ...parts.payload, step_id } }) as EventParts;
  const call: EventParts = {
    type: "tool_invoked",
    payload: { tool: "search", args_hash: hash, call_id: "c" },
  };

  test.each<[string, EventParts[], Partial<Record<string, StepStatus>>]>([
    ["begun", [start("a")], { a: "running" }],
    [
      "one after the other",
      [start("a"), done, start("b"), failed],
      { a: "completed", b: "failed" },
    ],
    ["one in the other", [start("a"), start("b"), failed, done], { a: "completed", b: "failed" }],
    ["one goes on", [start("a"), start("b"), done], { a: "running", b: "completed" }],
    ["named", [start("a"), start("b"), of(done, "a"), failed], { a: "completed", b: "failed" }],
    ["again", [start("a"), failed, start("a"), done], { a: "completed" }],
    ["begun again", [start("a"), failed, start("a")], { a: "running" }],
    [
      "begun twice",
      [start("a"), start("b"), start("a"), done, failed],
      { a: "completed", b: "failed" },
    ],
    ["delegated", [start("a"), delegated, start("b"), done], { a: "delegated", b: "completed" }],
    ["delegated and done", [start("a"), delegated, done], { a: "completed" }],
    [
      "done, with its task recorded late",
      [start("a"), done, of(delegated, "a")],
      { a: "completed" },
    ],
    ["known by its calls only", [of(call, "a")], { a: "running" }],
  ])("an event that names no step belongs to the last open step: %s", (_, parts, statuses) => {
    expect(statusesAfter(...parts)).toEqual(statuses);
  });

  test("an end that names no step belongs to the last open one among very many steps", () => {
    const many = Array.from({ length: 20_000 }, (_, index) => start(`s${index}`));
    const statuses = statusesAfter(...many, ...many.map(() => done), ...many.map(() => call));
    expect(new Set(Object.values(statuses))).toEqual(new Set(["completed"]));
  });
});
