import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { migrate } from "../database/migrate.ts";
import { erasedTexts } from "./031-erased-texts.ts";
import { migrations } from "./index.ts";

let db: Sqlite.Database;
beforeEach(() => {
  db = new Sqlite(":memory:");
  migrate(db, migrations.slice(0, migrations.indexOf(erasedTexts)));
});
afterEach(() => db.close());

test.runIf(onlyOn("sqlite"))(
  "B13: older archived receipts are found by the receipts nested in them",
  () => {
    const add = db.prepare(
      "INSERT INTO receipts (task_id, receipt_hash, agent_id, body, received_at) VALUES (?, 'h', 'a', ?, 1)",
    );
    const deepest = { signature: "deepest", result: "signature" };
    const middle = { signature: "middle", delegation_receipts: [deepest, 7, null] };
    add.run(
      "outer",
      JSON.stringify({ signature: "outer", delegation_receipts: [middle, deepest] }),
    );
    add.run("inner", JSON.stringify({ signature: "middle", delegation_receipts: [deepest] }));
    add.run("plain", JSON.stringify({ signature: "plain", result: "delegation_receipts" }));
    migrate(db, migrations);
    expect(db.prepare("SELECT * FROM nested_receipts ORDER BY signature, task_id").all()).toEqual([
      { signature: "deepest", task_id: "inner" },
      { signature: "deepest", task_id: "outer" },
      { signature: "middle", task_id: "outer" },
    ]);
  },
);
