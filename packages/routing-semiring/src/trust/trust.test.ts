import { describe, expect, test } from "vitest";
import {
  createTrustRecord,
  applyPayment,
  applyTaskOutcome,
  setTrustLevel,
  type TaskOutcome,
} from "./trust.ts";

const outcome = (status: TaskOutcome["status"], latencyMs = 100, now = 2000): TaskOutcome => ({
  status,
  latencyMs,
  now,
});

const after = (...outcomes: TaskOutcome[]) =>
  outcomes.reduce(applyTaskOutcome, createTrustRecord("payer", "worker", 1000));

describe("a trust record", () => {
  test("a trust record starts as unknown with nothing counted", () => {
    expect(after()).toEqual({
      agent_id: "payer",
      remote_agent_id: "worker",
      trust_level: "unknown",
      trust_score: 0.1,
      interaction_count: 0,
      successful_tasks: 0,
      failed_tasks: 0,
      avg_latency_ms: null,
      first_seen_at: 1000,
      last_seen_at: 1000,
    });
  });

  test("a trust record counts a completed task and its latency and updates level and score", () => {
    expect(after(outcome("completed"))).toMatchObject({
      trust_level: "first_contact",
      trust_score: 0.3,
      interaction_count: 1,
      successful_tasks: 1,
      failed_tasks: 0,
      avg_latency_ms: 100,
      first_seen_at: 1000,
      last_seen_at: 2000,
    });
  });

  test("a trust record counts a failed task without its latency", () => {
    expect(after(outcome("completed", 100), outcome("failed", 1))).toMatchObject({
      interaction_count: 2,
      successful_tasks: 1,
      failed_tasks: 1,
      avg_latency_ms: 100,
    });
  });

  test.each(["partial", "refunded", "unsettled"] as const)(
    "A6: a trust record counts a %s task as an interaction, neither as success nor as failure",
    (status) => {
      expect(after(outcome("completed"), outcome(status))).toMatchObject({
        trust_level: "first_contact",
        interaction_count: 2,
        successful_tasks: 1,
        failed_tasks: 0,
        avg_latency_ms: 100,
      });
    },
  );

  test("A6: applyPayment counts the success of an unsettled task without another interaction", () => {
    const paid = applyPayment(after(outcome("unsettled")), { latencyMs: 100, now: 3000 });
    expect(paid).toEqual({ ...after(outcome("completed")), last_seen_at: 3000 });
  });

  test("a trust record counts a denied task neither as success nor as failure", () => {
    expect(after(outcome("denied"))).toMatchObject({
      trust_level: "unknown",
      interaction_count: 1,
      successful_tasks: 0,
      failed_tasks: 0,
      avg_latency_ms: null,
      last_seen_at: 2000,
    });
  });

  test("a trust record averages the latency over the completed tasks", () => {
    const latencies = [100, 400, 700, 40];
    const record = after(...latencies.map((latency) => outcome("completed", latency)));
    expect(record.avg_latency_ms).toBeCloseTo(310, 9);
  });

  test("a trust record reaches trusted with 20 completed tasks and falls level by level afterwards", () => {
    const completed = Array.from({ length: 20 }, () => outcome("completed"));
    const failed = (count: number) => Array.from({ length: count }, () => outcome("failed"));
    const levels = [0, 20, 21, 22, 23, 24].map(
      (count) => after(...completed, ...failed(count)).trust_level,
    );
    expect(levels).toEqual([
      "trusted",
      "trusted",
      "verified",
      "first_contact",
      "unknown",
      "unknown",
    ]);
  });

  test("last_seen_at does not decrease when a clock goes backwards", () => {
    expect(after(outcome("completed", 1, 5000), outcome("completed", 1, 3000)).last_seen_at).toBe(
      5000,
    );
  });
});

describe("setTrustLevel", () => {
  test.each(["unknown", "first_contact", "verified", "trusted", "blocked"] as const)(
    "setTrustLevel sets a level to %s",
    (level) => {
      const set = setTrustLevel(after(outcome("completed")), level);
      expect(set).toMatchObject({ ok: true, record: { trust_level: level, successful_tasks: 1 } });
    },
  );

  test.each(["unknown", "first_contact", "verified", "trusted"] as const)(
    "setTrustLevel refuses to set a blocked agent to %s",
    (level) => {
      const blocked = setTrustLevel(after(), "blocked");
      expect(blocked.ok && setTrustLevel(blocked.record, level)).toEqual({
        ok: false,
        code: "trust.blocked",
      });
    },
  );

  test("setTrustLevel accepts blocking twice", () => {
    const blocked = setTrustLevel(after(), "blocked");
    expect(blocked.ok && setTrustLevel(blocked.record, "blocked")).toEqual(blocked);
  });

  test("a blocked agent stays blocked after a success", () => {
    const blocked = setTrustLevel(after(), "blocked");
    expect(blocked.ok && applyTaskOutcome(blocked.record, outcome("completed"))).toMatchObject({
      trust_level: "blocked",
      trust_score: 0,
      successful_tasks: 1,
    });
  });
});
