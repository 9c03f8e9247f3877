import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { migrate } from "../database/migrate.ts";
import { webhooksDue } from "./058-webhooks-due.ts";
import { migrations } from "./index.ts";

test.runIf(onlyOn("sqlite"))(
  "an upgrade makes webhooks with waiting messages due at the time of the earliest one",
  () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations.slice(0, migrations.indexOf(webhooksDue)));
    const addWebhook = db.prepare(
      "INSERT INTO webhooks VALUES (?, 'owner', 'http://h/', 's', '[]', 'active', 0, NULL, 0, 0)",
    );
    const addMessage = db.prepare("INSERT INTO webhook_deliveries VALUES (?, ?, '{}', 0, ?, NULL)");
    for (const webhook of ["idle", "waiting"]) addWebhook.run(webhook);
    addMessage.run("later", "waiting", 20);
    addMessage.run("first", "waiting", 10);
    addMessage.run("orphan", "deleted", 5);
    migrate(db, migrations);
    expect(db.prepare("SELECT webhook_id, next_at FROM webhooks").raw().all()).toEqual([
      ["idle", null],
      ["waiting", 10],
    ]);
    expect(
      db.prepare("SELECT delivery_id FROM webhook_deliveries ORDER BY next_at").raw().all(),
    ).toEqual([["first"], ["later"]]);
    db.close();
  },
);
