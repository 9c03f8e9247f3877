import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { migrate } from "../database/migrate.ts";
import { agentKeySources } from "./035-agent-key-sources.ts";
import { migrations } from "./index.ts";

test.runIf(onlyOn("sqlite"))(
  "A4: remote keys of an older database keep their peer if a task still names it",
  () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations.slice(0, migrations.indexOf(agentKeySources)));
    const addTask = db.prepare(
      `INSERT INTO federation_outbound (task_id, relay_id, version, body, route, attestation, payable)
     VALUES (?, ?, 1, ?, ?, ?, 0)`,
    );
    const add = (id: string, peer: string, relays: string[], attestation: string | null = "{}") => {
      const body = JSON.stringify({ agentId: `agent-${id}`, publicKey: `key-${id}` });
      const route = ["self", "relay:here", ...relays.map((name) => `relay:${name}`), `agent-${id}`];
      addTask.run(id, peer, body, JSON.stringify(route), attestation);
    };
    add("own", "beta", ["beta"]);
    add("passed-on", "beta", ["beta", "gamma"]);
    add("undone", "beta", ["beta"], null);
    const addKey = db.prepare("INSERT INTO federation_agent_keys VALUES (?, ?)");
    addKey.run("agent-own", "key-own");
    addKey.run("agent-long-ago", "key-long-ago");
    migrate(db, migrations);
    expect(db.prepare("SELECT * FROM federation_agent_keys").all()).toEqual([
      { agent_id: "agent-long-ago", relay_id: "", public_key: "key-long-ago", is_own: 0 },
      { agent_id: "agent-own", relay_id: "beta", public_key: "key-own", is_own: 1 },
      { agent_id: "agent-passed-on", relay_id: "beta", public_key: "key-passed-on", is_own: 0 },
    ]);
  },
);
