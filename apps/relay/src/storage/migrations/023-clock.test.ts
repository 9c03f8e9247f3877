import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { migrate } from "../database/migrate.ts";
import { migrations } from "./index.ts";

test.runIf(onlyOn("sqlite"))(
  "A10: accounts of an older database begin at the time of their last posting",
  () => {
    const db = new Sqlite(":memory:");
    migrate(
      db,
      migrations.slice(
        0,
        migrations.findIndex(({ id }) => id === "023-clock"),
      ),
    );
    db.exec(`
    INSERT INTO accounts (account, balance, held, pending_withdrawals, sequence)
      VALUES ('agent:a', 3, 0, 0, 2), ('agent:b', 0, 0, 0, 0);
    INSERT INTO postings (account, sequence, transaction_id, type, amount, balance_after, created_at)
      VALUES ('agent:a', 1, 't', 'deposit', 1, 1, 100), ('agent:a', 2, 't', 'deposit', 2, 3, 700);`);
    migrate(db, migrations);
    const times = db.prepare("SELECT account, last_posted_at FROM accounts ORDER BY account").all();
    expect(times).toEqual([
      { account: "agent:a", last_posted_at: 700 },
      { account: "agent:b", last_posted_at: 0 },
    ]);
    expect(db.prepare("SELECT at FROM clock").all()).toEqual([]);
    db.close();
  },
);
