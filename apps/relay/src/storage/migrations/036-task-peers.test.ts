import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { migrate } from "../database/migrate.ts";
import { taskPeers } from "./036-task-peers.ts";
import { migrations } from "./index.ts";

test.runIf(onlyOn("sqlite"))(
  "the peers of older tasks are read from their submitters, attempts and claims",
  () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations.slice(0, migrations.indexOf(taskPeers)));
    const insert = db.prepare(
      `INSERT INTO tasks (task_id, agent_id, submitted_by, status, prompt, required_capabilities,
       submitted_at, expires_at, attempts, attempt, charge, locked, claimed_by)
     VALUES (?, 'x', ?, 'claimed', 'p', '[]', 0, 5, ?, ?, 0, 0, ?)`,
    );
    const local = { agent_id: "x", charge: 0 };
    const remote = { ...local, via: { relay_id: "beta", public_key: "k", route: ["self"] } };
    const add = (id: string, by: string | null, attempt: number, claimed_by: string | null) =>
      insert.run(id, by, JSON.stringify([local, remote]), attempt, claimed_by);
    add("anonymous", null, 0, null);
    add("local", "boss", 0, "device");
    add("to-beta", "boss", 1, "relay beta");
    add("waiting", "boss", 1, null);
    add("from-alpha", "relay:alpha", 0, "endpoint call");
    add("through", "relay:alpha", 1, "relay beta");
    insert.run("without-attempts", "boss", "[]", 0, "relay gamma");
    migrate(db, migrations);
    const peers = db.prepare("SELECT origin_peer, via_peer FROM tasks WHERE task_id = ?").raw();
    const peersOf = (id: string) => peers.get(id);
    expect(peersOf("anonymous")).toEqual([null, null]);
    expect(peersOf("local")).toEqual([null, null]);
    expect(peersOf("to-beta")).toEqual([null, "beta"]);
    expect(peersOf("waiting")).toEqual([null, "beta"]);
    expect(peersOf("from-alpha")).toEqual(["alpha", null]);
    expect(peersOf("through")).toEqual(["alpha", "beta"]);
    expect(peersOf("without-attempts")).toEqual([null, "gamma"]);
  },
);
