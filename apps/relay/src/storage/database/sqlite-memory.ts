import Sqlite, { type Database } from "better-sqlite3";
import { createGroupCommit } from "../writing/group-commit.ts";
import type { CommitUnit } from "../writing/batch-runner.ts";
import { migrate, type Migration } from "./migrate.ts";
import type { OpenResult } from "./open-result.ts";
import { createReader } from "../reader.ts";
import { Statements } from "../queries/statements.ts";
import { unsharedStorage } from "../storage.ts";

/** Opens an empty database or a copy of an image that `serialize` made. */
export function openSqliteMemory(migrations: readonly Migration[], image?: Buffer): OpenResult {
  const db = new Sqlite(image ?? ":memory:");
  const migrated = migrate(db, migrations);
  const statements = new Statements(db);
  const group = createGroupCommit(db, statements, createCommitUnit(db));
  const read = createReader(db, statements, group.runBetweenBatches);
  return {
    ok: true,
    migrated,
    storage: {
      ...unsharedStorage,
      read,
      reserved: read,
      transaction: group.transaction,
      onAgentsChanged: (listener) => statements.changes.subscribe(listener),
      snapshot: group.transaction,
      scrub: () => Promise.resolve(true),
      async close() {
        await group.close();
        db.close();
      },
    },
  };
}

const BATCHES_PER_COMMIT = 256;

/**
 * Shares one COMMIT between many batches, each a savepoint of it. A COMMIT in memory walks through all
 * pages after one was split, and there is nothing to make durable and no other reader.
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
      // SQLite ran out of memory and lost acknowledged transactions, so the relay must stop.
      if (!db.inTransaction) return void db.close();
      undo.run();
      release.run();
    },
  };
}
