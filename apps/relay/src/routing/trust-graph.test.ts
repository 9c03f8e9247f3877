import { ZERO } from "@agent/budget";
import { findRoutes, type Routes } from "@agent/routing-semiring";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrations } from "../storage/migrations/index.ts";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import type { Storage } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { BLOCKED, UNKNOWN } from "../trust/levels.ts";
import { saveTrustRecord } from "../trust/store.ts";
import { loadTrustGraph, type TrustGraph } from "./trust-graph.ts";

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

test("an edge leads from delegator to executor and has only the score of the level", async () => {
  await storage.transaction((tx) => saveTrustRecord(tx, record("payer", "worker", 4)));
  const { graph } = await loadTrustGraph(storage.read);
  expect(graph.edges()).toEqual([
    { from: "payer", to: "worker", trust: 0.9, cost: 0, latency: 0, reliability: 1 },
  ]);
});

test("a changed record replaces the earlier one", async () => {
  const trustGraph = await loadTrustGraph(storage.read);
  for (const level of [1, 2, 3]) trustGraph.update(record("payer", "worker", level));
  expect(trustGraph.graph.edges()).toMatchObject([{ trust: 0.6 }]);
});

test.each<[string, number, boolean]>([
  ["the same level", 3, true],
  ["another level", 4, false],
  ["a block", BLOCKED, false],
])("routes are kept after %s of a known pair", async (_, level, isKept) => {
  const trustGraph = await loadTrustGraph(storage.read);
  trustGraph.update(record("payer", "worker", 3));
  const { routes } = trustGraph.routesFrom("payer");
  trustGraph.update(record("payer", "worker", level));
  expect(trustGraph.routesFrom("payer").routes === routes).toBe(isKept);
});

test.each<[string, (trustGraph: TrustGraph) => void]>([
  ["a new pair", (trustGraph) => trustGraph.update(record("worker", "other", 3))],
  ["a block of an unknown agent", (trustGraph) => trustGraph.update(record("payer", "x", BLOCKED))],
  [
    "the end of a pair",
    (trustGraph) => trustGraph.remove({ agent_id: "payer", remote_agent_id: "worker" }),
  ],
  [
    "a block of an agent whose trust had ended",
    (trustGraph) => {
      trustGraph.remove({ agent_id: "payer", remote_agent_id: "worker" });
      trustGraph.routesFrom("payer");
      trustGraph.update(record("payer", "worker", BLOCKED));
    },
  ],
  [
    "a change that waited for the end of a ranking",
    (trustGraph) => {
      const release = trustGraph.hold();
      trustGraph.update(record("payer", "worker", 4));
      trustGraph.routesFrom("payer");
      release();
    },
  ],
])("routes are found anew after %s", async (_, change) => {
  const trustGraph = await loadTrustGraph(storage.read);
  trustGraph.update(record("payer", "worker", 3));
  const { routes } = trustGraph.routesFrom("payer");
  change(trustGraph);
  expect(trustGraph.routesFrom("payer").routes).not.toBe(routes);
});

const agents = ["self", "a", "b", "c", "d", "e", "f"];
const anyAgent = fc.constantFrom(...agents);
const change = fc.record({
  from: anyAgent,
  to: anyAgent,
  level: fc.constantFrom(BLOCKED, UNKNOWN, 2, 3, 4),
  isRemoved: fc.boolean(),
});

test("a graph that keeps routes returns the same ones as a new search", async () => {
  const trustGraph = await loadTrustGraph(storage.read);
  const read = (routes: Routes) => agents.map((id) => routes.get(id));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      for (const { from, to, level, isRemoved } of changes) {
        if (isRemoved) trustGraph.remove({ agent_id: from, remote_agent_id: to });
        else trustGraph.update(record(from, to, level));
        for (const asker of ["self", "a", "b"]) {
          const { routes } = trustGraph.routesFrom(asker);
          routes.search(Infinity);
          const found = findRoutes(trustGraph.graph, asker, trustGraph.blockedBy(asker));
          expect(read(routes)).toEqual(read(found));
        }
      }
    }),
  );
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
