import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { migrate } from "../../storage/database/migrate.ts";
import { migrations } from "../../storage/migrations/index.ts";
import type { CompiledText } from "../../storage/queries/compiled-query.ts";
import { inspectionsByRole, inspectionsOfState, waitingDisputes } from "./list-store.ts";

/** Lists where SQLite reads inspections for a statement. It sorts no more than a page of each. */
function explain({ text, names }: CompiledText<never>): string[] {
  const memory = new Sqlite(":memory:");
  migrate(memory, migrations);
  const plan = memory
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
    .all(...names.map(() => 1));
  memory.close();
  return plan.map(({ detail }) => detail).filter((step) => /inspections|MULTI-INDEX/.test(step));
}

const fromParty = (party: string) =>
  `SEARCH inspections USING COVERING INDEX inspections_by_${party} (${party}_id=? AND state=? AND task_id<?)`;
const OF_PARTY = {
  delegator: Array.from({ length: 4 }, () => fromParty("submitter")),
  executor: Array.from({ length: 4 }, () => fromParty("executor")),
};
const OF_ARBITER = [
  "SEARCH inspections USING INDEX disputes_waiting (arbiter_id=? AND state=?)",
  "SEARCH inspections USING COVERING INDEX disputes_by_arbiter (arbiter_id=? AND closed_at>?)",
];
const ROWS_OF_PAGE = "SEARCH inspections USING INDEX sqlite_autoindex_inspections_1 (task_id=?)";

test.runIf(onlyOn("sqlite")).each([
  ["delegator", [...OF_PARTY.delegator, ROWS_OF_PAGE]],
  ["executor", [...OF_PARTY.executor, ROWS_OF_PAGE]],
  ["arbiter", [...OF_ARBITER, ROWS_OF_PAGE]],
  ["all", [...OF_PARTY.delegator, ...OF_PARTY.executor, ...OF_ARBITER, ROWS_OF_PAGE]],
] as const)(
  "IS30: a page of an agent's inspections as %s is looked up in an index, state by state",
  (role, steps) => {
    expect(explain(inspectionsByRole[role])).toEqual(steps);
  },
);

test.runIf(onlyOn("sqlite"))(
  "IS30: a page of the inspections in one state is looked up in an index",
  () => {
    expect(explain(inspectionsOfState)).toEqual([
      "SEARCH inspections USING INDEX inspections_by_state (state=? AND task_id<?)",
    ]);
  },
);

test.runIf(onlyOn("sqlite"))("IS30: a page of waiting disputes is looked up in an index", () => {
  expect(explain(waitingDisputes)).toEqual([
    "SEARCH inspections USING INDEX disputes_waiting (arbiter_id=? AND state=? AND due=? AND task_id>?)",
    "SEARCH inspections USING INDEX disputes_waiting (arbiter_id=? AND state=? AND due<?)",
  ]);
});
