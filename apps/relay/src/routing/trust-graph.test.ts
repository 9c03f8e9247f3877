import { ZERO } from "@agent/budget";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrations } from "../storage/migrations/index.ts";
import { openMigrated } from "../../test/migrated-storage.ts";
import type { Storage } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { BLOCKED, UNKNOWN } from "../trust/levels.ts";
import { saveTrustRecord } from "../trust/store.ts";
import { loadTrustGraph } from "./trust-graph.ts";

let storage: Storage;
beforeEach(async () => {
  const opened = await openMigrated({ path: ":memory:", migrations });
  if (!opened.ok) throw new Error(opened.detail);
  ({ storage } = opened);
});
afterEach(() => storage.close());

const record = (agent_id: string, remote_agent_id: string, trust_level: number) =>
  ({
    agent_id,
    remote_agent_id,
    trust_level,
    first_seen_at: 1,
    last_seen_at: 1,
    interaction_count: 0,
    successful_tasks: 0,
    failed_tasks: 0,
    paid_tasks: 0,
    fees_kept: ZERO,
    avg_latency_ms: null,
  }) satisfies TrustRecordRow;

test("every stored record is an edge, however many pages there are", async () => {
  const count = 20_001;
  await storage.transaction(async (tx) => {
    for (let i = 0; i < count; i++) {
      await saveTrustRecord(tx, record(`payer ${i % 7}`, `worker ${i}`, UNKNOWN));
    }
  });
  const edges = (await loadTrustGraph(storage.read)).graph.edges();
  expect(new Set(edges.map(({ from, to }) => `${from} ${to}`)).size).toBe(count);
});

test("an edge goes from delegator to executor and carries the level's score alone", async () => {
  await storage.transaction((tx) => saveTrustRecord(tx, record("payer", "worker", 4)));
  const { graph } = await loadTrustGraph(storage.read);
  expect(graph.edges()).toEqual([
    { from: "payer", to: "worker", trust: 0.9, cost: 0, latency: 0, reliability: 1 },
  ]);
});

test("a changed record replaces the one before", async () => {
  const trustGraph = await loadTrustGraph(storage.read);
  for (const level of [1, 2, 3]) trustGraph.update(record("payer", "worker", level));
  expect(trustGraph.graph.edges()).toMatchObject([{ trust: 0.6 }]);
});

test("RT2 a block applies to the payer that set it alone, and only in that direction", async () => {
  await storage.transaction((tx) => saveTrustRecord(tx, record("payer", "worker", BLOCKED)));
  const trustGraph = await loadTrustGraph(storage.read);
  expect(trustGraph.isBlocked("payer", "worker")).toBe(true);
  expect(trustGraph.isBlocked("worker", "payer")).toBe(false);
  expect(trustGraph.isBlocked("other", "worker")).toBe(false);
  expect(trustGraph.isBlocked(null, "worker")).toBe(false);
  trustGraph.update(record("other", "worker", BLOCKED));
  expect(trustGraph.isBlocked("other", "worker")).toBe(true);
});
