import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../test/engine/engine.ts";
import { migrate } from "../storage/database/migrate.ts";
import { migrations } from "../storage/migrations/index.ts";
import { settlementsByAgent } from "./store.ts";

test.runIf(onlyOn("sqlite"))(
  "G2: a page of settlements is looked up in two indexes, and no whole history is sorted for it",
  () => {
    const memory = new Sqlite(":memory:");
    migrate(memory, migrations);
    const { text, values } = settlementsByAgent;
    const plan = memory
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values({ agent_id: "a", before: "b", limit: 1 }));
    memory.close();
    const steps = plan.map(({ detail }) => detail);
    expect(steps.filter((step) => step.startsWith("SEARCH settlements"))).toEqual([
      "SEARCH settlements USING INDEX settlements_by_payer (payer_id=? AND settlement_id<?)",
      "SEARCH settlements USING INDEX settlements_by_payee (payee_id=? AND settlement_id<?)",
    ]);
    // At most two pages of rows are sorted.
    expect(steps.filter((step) => step.includes("MULTI-INDEX"))).toEqual([]);
  },
);
