import { hashArgs } from "@agent/ledger";
import { describe, expect, test } from "vitest";
import { createTimeline } from "./timeline.ts";

/** A timeline whose clock shows these times, in order, and then the last one. */
function timelineAt(...times: number[]) {
  return createTimeline("goal", () => (times.length > 1 ? times.shift()! : times[0]!));
}

const ends = (timeline: ReturnType<typeof createTimeline>) =>
  timeline.finish("completed")?.map(({ timestamp, type }) => [timestamp, type]);

describe("the timeline of a task", () => {
  test("a timeline states each tool call by the hash of its arguments", () => {
    let now = 1_000;
    const timeline = createTimeline("goal", () => now);
    const call = timeline.beginCall("fetch", { url: "https://example.org" });
    now = 1_250;
    call.end(false);
    now = 1_300;
    expect(timeline.finish("completed")).toEqual([
      { timestamp: 1_000, type: "goal_started", payload: { goal_id: "goal" } },
      {
        timestamp: 1_000,
        type: "tool_invoked",
        payload: {
          tool: "fetch",
          args_hash: hashArgs({ url: "https://example.org" }),
          call_id: "1",
        },
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
    const [first, second] = [timeline.beginCall("a", {}), timeline.beginCall("b", {})];
    second.end(true);
    first.end(true);
    const results = timeline.finish("completed")?.filter(({ type }) => type === "tool_result");
    expect(results?.map(({ payload }) => payload)).toMatchObject([
      { tool: "b", call_id: "2" },
      { tool: "a", call_id: "1" },
    ]);
  });

  test("a call whose tool did not run is not stated", () => {
    const timeline = timelineAt(1);
    timeline.beginCall("denied", {}).withdraw();
    expect(ends(timeline)).toEqual([
      [1, "goal_started"],
      [1, "goal_completed"],
    ]);
  });

  test("a tool that is still running at the end is stated as invoked", () => {
    const timeline = timelineAt(1);
    timeline.beginCall("slow", {});
    expect(ends(timeline)?.map(([, type]) => type)).toEqual([
      "goal_started",
      "tool_invoked",
      "goal_completed",
    ]);
  });

  test("events stay in order, and no call has a negative duration, when the clock jumps back", () => {
    let now = 5_000;
    const timeline = createTimeline("goal", () => now);
    const call = timeline.beginCall("a", {});
    now = 2_000;
    call.end(true);
    const events = timeline.finish("completed");
    expect(events?.map(({ timestamp }) => timestamp)).toEqual([5_000, 5_000, 5_000, 5_000]);
    expect(events?.[2]?.payload).toMatchObject({ duration_ms: 0 });
  });
});

describe("a timeline that cannot be stated completely", () => {
  test("arguments without canonical JSON leave no timeline", () => {
    const timeline = timelineAt(1);
    timeline.beginCall("a", { text: "\ud800" }).end(true);
    expect(timeline.finish("completed")).toBeUndefined();
  });

  test("arguments without canonical JSON are nothing to state if the tool did not run", () => {
    const timeline = timelineAt(1);
    timeline.beginCall("a", { text: "\ud800" }).withdraw();
    expect(ends(timeline)?.map(([, type]) => type)).toEqual(["goal_started", "goal_completed"]);
  });

  test.each([
    [4_999, "object"],
    [5_000, "undefined"],
  ])(
    "%i tool calls leave %s as timeline, because at most 10,000 events are kept",
    (calls, kind) => {
      const timeline = timelineAt(1);
      for (let i = 0; i < calls; i++) timeline.beginCall("a", {}).end(true);
      expect(typeof timeline.finish("completed")).toBe(kind);
    },
  );
});
