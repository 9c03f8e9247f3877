import Sqlite, { type Database } from "better-sqlite3";
import { createGroupCommit, type CommitUnit } from "../writing/group-commit.ts";
import { migrate, type Migration } from "./migrate.ts";
import type { OpenResult } from "./open-result.ts";
import { createReader } from "../reader.ts";
import { Statements } from "../queries/statements.ts";

/** An empty database, or a copy of an image as `serialize` makes it. */
export function openSqliteMemory(migrations: readonly Migration[], image?: Buffer): OpenResult {
  const db = new Sqlite(image ?? ":memory:");
  const migrated = migrate(db, migrations);
  const statements = new Statements(db);
  const group = createGroupCommit(db, statements, createCommitUnit(db));
  return {
    ok: true,
    migrated,
    storage: {
      read: createReader(db, statements, group.runBetweenBatches),
      transaction: group.transaction,
      snapshot: group.transaction,
      scrub: () => Promise.resolve(),
      async close() {
        await group.close();
        db.close();
      },
    },
  };
}

const BATCHES_PER_COMMIT = 64;

/**
 * A COMMIT in memory walks through all pages when one was split. There is nothing to make durable and
 * nobody who looks in from outside, so that many batches share one, each a savepoint of it.
 */
function createCommitUnit(db: Database): CommitUnit {
  const begin = db.prepare("BEGIN");
  const commit = db.prepare("COMMIT");
  const savepoint = db.prepare("SAVEPOINT batch");
  const release = db.prepare("RELEASE batch");
  const undo = db.prepare("ROLLBACK TO batch");
  let batches = 0;
  return {
    begin() {
      batches += 1;
      if (db.inTransaction && batches % BATCHES_PER_COMMIT === 0) commit.run();
      if (!db.inTransaction) begin.run();
      savepoint.run();
    },
    commit: () => void release.run(),
    rollback() {
      // SQLite ran out of memory and forgot what was acknowledged: better no relay than that one.
      if (!db.inTransaction) return void db.close();
      undo.run();
      release.run();
    },
  };
}
