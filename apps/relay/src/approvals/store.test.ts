import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../test/engine/engine.ts";
import { migrate } from "../storage/database/migrate.ts";
import { migrations } from "../storage/migrations/index.ts";
import type { CompiledText } from "../storage/queries/compiled-query.ts";
import { pendingByApprover } from "./store.ts";
import { waitingByRequester } from "./waiting-store.ts";

/** Lists where SQLite reads votes and approvals for a statement. */
function explain({ text, names }: CompiledText<never>): string[] {
  const memory = new Sqlite(":memory:");
  migrate(memory, migrations);
  const plan = memory
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
    .all(...names.map(() => "[]"));
  memory.close();
  return plan
    .map(({ detail }) => detail)
    .filter((step) => /^(SCAN|SEARCH) (vote|approvals)/.test(step));
}

test.runIf(onlyOn("sqlite"))(
  "waiting requests are counted by looking up only the named approvers in an index",
  () => {
    expect(explain(pendingByApprover)).toEqual([
      "SEARCH vote USING COVERING INDEX votes_waiting (approver_id=? AND agent_id=? AND sequence>?)",
    ]);
  },
);

test.runIf(onlyOn("sqlite"))(
  "waiting calls are listed by looking up each requester in an index",
  () => {
    expect(explain(waitingByRequester)).toEqual([
      "SEARCH vote USING COVERING INDEX votes_waiting (approver_id=?)",
      "SEARCH vote USING COVERING INDEX votes_waiting (approver_id=? AND agent_id>?)",
      "SEARCH vote USING COVERING INDEX votes_waiting (approver_id=? AND agent_id=? AND sequence>?)",
      "SEARCH vote USING COVERING INDEX votes_waiting (approver_id=? AND agent_id=?)",
      "SEARCH approvals EXISTS USING PRIMARY KEY (agent_id=? AND approval_id=?)",
      "SEARCH approvals USING PRIMARY KEY (agent_id=? AND approval_id=?)",
    ]);
  },
);
