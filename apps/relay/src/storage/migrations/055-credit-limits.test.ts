import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { migrate } from "../database/migrate.ts";
import { creditLimits } from "./055-credit-limits.ts";
import { migrations } from "./index.ts";

test.runIf(onlyOn("sqlite"))(
  "A3: the limits that the operator of an older database set are known after an upgrade",
  () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations.slice(0, migrations.indexOf(creditLimits)));
    const add = db.prepare(
      `INSERT INTO federation_peers (relay_id, public_key, endpoint_url, display_name, state,
       credit_limit, admitted, operator_removal, missed_heartbeats, last_timestamp, agent_count, forwards)
     VALUES (?, 'key', 'http://peer', 'peer', 'active', ?, ?, ?, 0, 0, 0, '[]')`,
    );
    add.run("added", 100, 1, null);
    add.run("lowered", 0, 1, null);
    add.run("readmitted", 0, 0, "lifted");
    add.run("removed", 0, 0, "in_force");
    add.run("stranger", 0, 0, null);
    migrate(db, migrations);
    const peers = db.prepare(
      "SELECT relay_id, credit_set, operator_removal FROM federation_peers ORDER BY relay_id",
    );
    expect(peers.raw().all()).toEqual([
      ["added", 0, null],
      ["lowered", 1, null],
      ["readmitted", 1, null],
      ["removed", 1, "in_force"],
      ["stranger", 0, null],
    ]);
    db.close();
  },
);
