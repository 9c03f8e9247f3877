import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { migrate } from "../database/migrate.ts";
import { votes } from "./033-votes.ts";
import { migrations } from "./index.ts";

test.runIf(onlyOn("sqlite"))(
  "D3: pending calls with votes of the first form must be voted on again, and decided ones do not change",
  () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations.slice(0, migrations.indexOf(votes)));
    const addApproval = db.prepare(
      "INSERT INTO approvals VALUES ('a', ?, ?, 'pay', 'h', 1, ?, 1, ?)",
    );
    const addVote = db.prepare(
      "INSERT INTO approval_votes VALUES ('a', ?, 'b', ?, 'approve', 's', 2)",
    );
    const resolvedAt = { pending: null, approved: 2, denied: 2, used: 2 };
    for (const [status, at] of Object.entries(resolvedAt)) {
      addApproval.run(status, status, status, at);
      addVote.run(status, status);
    }
    migrate(db, migrations);
    const rows = db.prepare(
      `SELECT approval_id, status, resolved_at, signature, decision, voted_at
     FROM approvals JOIN approval_votes USING (agent_id, approval_id) ORDER BY approval_id`,
    );
    const open = {
      status: "pending",
      resolved_at: null,
      signature: null,
      decision: null,
      voted_at: null,
    };
    const ended = { resolved_at: 2, signature: "s", decision: "approve", voted_at: 2 };
    expect(rows.all()).toEqual([
      { approval_id: "approved", ...open },
      { approval_id: "denied", status: "denied", ...ended },
      { approval_id: "pending", ...open },
      { approval_id: "used", status: "used", ...ended },
    ]);
    db.close();
  },
);
