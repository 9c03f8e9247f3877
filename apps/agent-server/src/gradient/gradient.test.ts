import { issueCredential } from "@agent/credentials";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import type { Counts } from "./counts.ts";
import { calculateGradient } from "./gradient.ts";

const none = { total: 0, succeeded: 0 };
const nothing: Counts = {
  tasks: none,
  toolCalls: none,
  tools: { offered: 0, used: 0 },
  memories: 0,
  recalls: none,
  recalled: { items: 0, confidence: 0 },
  delegations: none,
  heartbeats: none,
};

test("each figure of a gradient is the share of its counts", () => {
  expect(
    calculateGradient({
      tasks: { total: 4, succeeded: 3 },
      toolCalls: { total: 10, succeeded: 9 },
      tools: { offered: 4, used: 1 },
      memories: 12,
      recalls: { total: 5, succeeded: 2 },
      recalled: { items: 4, confidence: 2 },
      delegations: { total: 2, succeeded: 1 },
      heartbeats: { total: 8, succeeded: 8 },
    }),
  ).toEqual({
    gradient: (0.75 + 0.5 + 0.5 + 1 + 0.4 + 0.75 + 0.9) / 7,
    knowledge_density: 0.75,
    knowledge_quality: 0.5,
    graph_connectivity: 0.5,
    temporal_stability: 1,
    retrieval_quality: 0.4,
    interaction_efficiency: 0.75,
    tool_efficiency: 0.9,
    curiosity_pressure: 0.75,
  });
});

test("every figure of a gradient is 0 while nothing has been counted", () => {
  expect(new Set(Object.values(calculateGradient(nothing)))).toEqual(new Set([0]));
});

const tries = fc
  .tuple(fc.nat(), fc.nat())
  .map(([good, bad]) => ({ succeeded: good, total: good + bad })) satisfies fc.Arbitrary<
  Counts["tasks"]
>;

test("every figure of a gradient is from 0 to 1 and can be issued, whatever was counted", () => {
  const { did, secretKey } = createTestIdentity();
  const counts = fc.record({
    tasks: tries,
    toolCalls: tries,
    tools: tries.map(({ total: made, succeeded: good }) => ({ offered: made, used: good })),
    memories: fc.nat(),
    recalls: tries,
    recalled: fc.nat().map((items) => ({ items, confidence: items * 1.000_001 })),
    delegations: tries,
    heartbeats: tries,
  });
  fc.assert(
    fc.property(counts, (counted) => {
      const figures = calculateGradient(counted);
      for (const value of Object.values(figures)) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
      }
      issueCredential({
        type: "AgentGradientCredential",
        subject: { id: did, ...figures, measured_at: 0 },
        secretKey,
        now: 0,
      });
    }),
    { numRuns: 50 },
  );
});
