import { type Millionths, ZERO } from "@agent/budget";
import Sqlite from "better-sqlite3";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import { migrate } from "../storage/database/migrate.ts";
import { inspectionPages } from "../storage/migrations/052-inspection-pages.ts";
import { migrations } from "../storage/migrations/index.ts";
import { compile, queryBuilder } from "../storage/queries/compiled-query.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import { insertInspection, updateInspection } from "./store.ts";

const everyInspection = compile()(queryBuilder.selectFrom("inspections").selectAll());
const everyCount = compile()(
  queryBuilder.selectFrom("inspection_counts").selectAll().orderBy("agent_id"),
);

const agents = ["a", "b", "c"] as const;
const lives = fc.array(
  fc.record({
    submitter_id: fc.constantFrom(...agents),
    executor_id: fc.constantFrom(...agents),
    arbiter_id: fc.constantFrom(...agents, "relay"),
    counted: fc.constantFrom<InspectionRow["counted"]>(0, 1, 1),
    acts: fc.subarray(["reject", "contest", "pass", "close"] as const),
    lost_by: fc.constantFrom<InspectionRow["lost_by"]>(null, "submitter", "executor"),
    isDecided: fc.boolean(),
  }),
  { maxLength: 12 },
);
type Life = typeof lives extends fc.Arbitrary<(infer Each)[]> ? Each : never;

const begin = (life: Life, at: number): InspectionRow => ({
  task_id: `task-${at}`,
  agent_id: life.executor_id,
  dispute_id: `dispute-${at}`,
  state: "inspecting",
  terms: JSON.stringify({ platform_fee_rate: 0.05 }),
  submitter_id: life.submitter_id,
  executor_id: life.executor_id,
  arbiter_id: life.arbiter_id,
  receipt_hash: "",
  ledger_hash: null,
  due: ZERO,
  due_status: "completed",
  fee: ZERO,
  bond: ZERO,
  offer: null,
  deadline: 1,
  moved: 0,
  verdicts: "[]",
  decision: null,
  outcome: null,
  share: null,
  lost_by: null,
  postings: "[]",
  counted: life.counted,
  begun_at: 0,
  contested_at: null,
  passed_by: null,
  passed_at: null,
  closed_at: null,
});

/** Returns the row after an act; some orders of acts cannot occur in a relay, and count by the same rule. */
function change(row: InspectionRow, act: Life["acts"][number], life: Life): InspectionRow {
  switch (act) {
    case "reject":
      return { ...row, state: "rejected", offer: 0 as Millionths };
    case "contest":
      return { ...row, state: "disputed", contested_at: 1 };
    case "pass":
      return { ...row, arbiter_id: "relay", passed_by: row.arbiter_id, passed_at: 1, deadline: 2 };
    case "close": {
      const { lost_by, isDecided } = life;
      const decision = row.contested_at !== null && isDecided ? "{}" : null;
      return { ...row, state: "closed", deadline: null, lost_by, decision, closed_at: 3 };
    }
  }
}

function buildOlder(): Buffer {
  const older = new Sqlite(":memory:");
  migrate(older, migrations.slice(0, migrations.indexOf(inspectionPages)));
  const image = older.serialize();
  older.close();
  return image;
}
const olderImage = buildOlder();

/** Counts rows as the migration does in an older database. */
function recount(rows: readonly InspectionRow[]): unknown[] {
  const older = new Sqlite(olderImage);
  for (const row of rows) {
    const columns = Object.keys(row);
    const places = columns.map((column) => `@${column}`);
    const insert = `INSERT INTO inspections (${columns.join()}) VALUES (${places.join()})`;
    const whole = Object.entries(row).map(([column, value]) => [
      column,
      typeof value === "number" ? BigInt(value) : value,
    ]);
    older.prepare(insert).run(Object.fromEntries(whole));
  }
  migrate(older, migrations);
  const counts = older.prepare("SELECT * FROM inspection_counts ORDER BY agent_id").all();
  older.close();
  return counts;
}

test("IS30: the stored figures of inspections equal those of a recount", async () => {
  await fc.assert(
    fc.asyncProperty(lives, async (all) => {
      const opened = await openMigrated({ migrations });
      if (!opened.ok) throw new Error(opened.detail);
      const { storage } = opened;
      for (const [at, life] of all.entries()) {
        await storage.transaction(async (tx) => {
          let row = begin(life, at);
          await insertInspection(tx, row);
          for (const act of life.acts) {
            const before = row;
            row = change(before, act, life);
            expect(await updateInspection(tx, before, row)).toBe(true);
            // An act that came too late changes neither the row nor the figures.
            expect(await updateInspection(tx, before, row)).toBe(false);
          }
        });
      }
      const kept = await storage.read.all(everyCount, {});
      expect(kept).toEqual(recount(await storage.read.all(everyInspection, {})));
      await storage.close();
    }),
    { numRuns: 50 },
  );
});
