import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { migrate } from "../database/migrate.ts";
import { votesWaiting } from "./054-votes-waiting.ts";
import { migrations } from "./index.ts";

test.runIf(onlyOn("sqlite"))(
  "an upgrade no longer lets votes wait whose call was decided without them",
  () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations.slice(0, migrations.indexOf(votesWaiting)));
    const addApproval = db.prepare(
      "INSERT INTO approvals VALUES ('a', ?, ?, 'pay', 'h', 1, ?, 1, NULL, NULL)",
    );
    const addVote = db.prepare("INSERT INTO approval_votes VALUES ('a', ?, ?, ?, ?, NULL, NULL)");
    for (const status of ["pending", "approved", "denied", "used"]) {
      addApproval.run(status, status, status);
      addVote.run(status, "voted", status, "approve");
      addVote.run(status, "waiting", status, null);
    }
    migrate(db, migrations);
    const closed = db.prepare(
      "SELECT approval_id, approver_id FROM approval_votes WHERE closed = 1",
    );
    expect(closed.raw().all()).toEqual([
      ["approved", "waiting"],
      ["denied", "waiting"],
      ["used", "waiting"],
    ]);
    db.close();
  },
);
