import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { migrate } from "../database/migrate.ts";
import { keyProofs } from "./032-key-proofs.ts";
import { migrations } from "./index.ts";

let db: Sqlite.Database;
beforeEach(() => {
  db = new Sqlite(":memory:");
  migrate(db, migrations.slice(0, migrations.indexOf(keyProofs)));
});
afterEach(() => db.close());

test.runIf(onlyOn("sqlite"))(
  "D1: peers of an older database with credit count as admitted by the operator",
  () => {
    const add = db.prepare(
      `INSERT INTO federation_peers (relay_id, public_key, endpoint_url, display_name, state,
       credit_limit, missed_heartbeats, last_timestamp, agent_count, forwards, operator_removal)
     VALUES (?, 'key', 'http://peer', 'peer', 'active', ?, 0, 0, 0, '[]', ?)`,
    );
    add.run("admitted", 100, null);
    add.run("removed", 100, "in_force");
    add.run("stranger", 0, null);
    migrate(db, migrations);
    const peers = db.prepare("SELECT relay_id, admitted FROM federation_peers ORDER BY relay_id");
    expect(peers.all()).toEqual([
      { relay_id: "admitted", admitted: 1 },
      { relay_id: "removed", admitted: 0 },
      { relay_id: "stranger", admitted: 0 },
    ]);
  },
);

test.runIf(onlyOn("sqlite"))(
  "D2: the bindings of an older database are kept without proven keys",
  () => {
    const add = db.prepare(
      "INSERT INTO agent_keys (agent_id, public_key, valid_from) VALUES (?, 'key', 1)",
    );
    add.run("one");
    add.run("two");
    migrate(db, migrations);
    expect(db.prepare("SELECT agent_id, valid_until FROM agent_keys").all()).toEqual([
      { agent_id: "one", valid_until: null },
      { agent_id: "two", valid_until: null },
    ]);
    expect(db.prepare("SELECT * FROM key_proofs").all()).toEqual([]);
  },
);
