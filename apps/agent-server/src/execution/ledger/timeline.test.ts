import { describe, expect, test } from "vitest";
import { createTimeline } from "./timeline.ts";

/** A timeline whose clock shows these times, in order, and then the last one. */
function timelineAt(...times: number[]) {
  return createTimeline("goal", () => (times.length > 1 ? times.shift()! : times[0]!));
}

describe("the timeline of a task", () => {
  test("a timeline states each tool call by the hash of its arguments", () => {
    let now = 1_000;
    const timeline = createTimeline("goal", () => now);
    const endCall = timeline.beginCall("fetch", "hash");
    now = 1_250;
    endCall(false);
    now = 1_300;
    expect(timeline.finish("completed")).toEqual([
      { timestamp: 1_000, type: "goal_started", payload: { goal_id: "goal" } },
      {
        timestamp: 1_000,
        type: "tool_invoked",
        payload: { tool: "fetch", args_hash: "hash", call_id: "1" },
      },
      {
        timestamp: 1_250,
        type: "tool_result",
        payload: { tool: "fetch", ok: false, duration_ms: 250, call_id: "1" },
      },
      { timestamp: 1_300, type: "goal_completed", payload: { status: "completed" } },
    ]);
  });

  test("a call that ends after a later one keeps its id", () => {
    const timeline = timelineAt(1);
    const [endFirst, endSecond] = [timeline.beginCall("a", ""), timeline.beginCall("b", "")];
    endSecond(true);
    endFirst(true);
    const results = timeline.finish("completed")?.filter(({ type }) => type === "tool_result");
    expect(results?.map(({ payload }) => payload)).toMatchObject([
      { tool: "b", call_id: "2" },
      { tool: "a", call_id: "1" },
    ]);
  });

  test("a tool that is still running at the end is stated as invoked", () => {
    const timeline = timelineAt(1);
    timeline.beginCall("slow", "");
    expect(timeline.finish("completed")?.map(({ type }) => type)).toEqual([
      "goal_started",
      "tool_invoked",
      "goal_completed",
    ]);
  });

  test("events stay in order, and no call has a negative duration, when the clock jumps back", () => {
    let now = 5_000;
    const timeline = createTimeline("goal", () => now);
    const endCall = timeline.beginCall("a", "");
    now = 2_000;
    endCall(true);
    const events = timeline.finish("completed");
    expect(events?.map(({ timestamp }) => timestamp)).toEqual([5_000, 5_000, 5_000, 5_000]);
    expect(events?.[2]?.payload).toMatchObject({ duration_ms: 0 });
  });
});

describe("a timeline that cannot be stated completely", () => {
  test.each([
    [4_999, "object"],
    [5_000, "undefined"],
  ])(
    "%i tool calls leave %s as timeline, because at most 10,000 events are kept",
    (calls, kind) => {
      const timeline = timelineAt(1);
      for (let i = 0; i < calls; i++) timeline.beginCall("a", "")(true);
      expect(typeof timeline.finish("completed")).toBe(kind);
    },
  );
});
