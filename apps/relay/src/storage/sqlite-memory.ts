import Sqlite from "better-sqlite3";
import { createGroupCommit } from "./group-commit.ts";
import { migrate, type Migration } from "./migrate.ts";
import type { Opened } from "./open.ts";
import { createReader } from "./reader.ts";
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
      read: createReader(db, statements, group.settled),
      transaction: group.transaction,
      scrub: () => Promise.resolve(),
      async close() {
        await group.close();
        db.close();
      },
    },
  };
}
