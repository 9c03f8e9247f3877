import Sqlite from "better-sqlite3";
import { createGroupCommit } from "./group-commit.ts";
import { migrate, type Migration } from "./migrate.ts";
import type { Opened } from "./open.ts";
import { Statements } from "./statements.ts";

/** A second `:memory:` connection would be another database, so reads wait for the open batch. */
export function openSqliteMemory(migrations: readonly Migration[]): Opened {
  const db = new Sqlite(":memory:");
  const migrated = migrate(db, migrations);
  const statements = new Statements(db);
  const group = createGroupCommit(db, statements);
  return {
    ok: true,
    migrated,
    storage: {
      read: {
        async get(query, params) {
          await group.settled();
          return statements.get(query, params);
        },
        async all(query, params) {
          await group.settled();
          return statements.all(query, params);
        },
      },
      transaction: group.transaction,
      async close() {
        await group.close();
        db.close();
      },
    },
  };
}
