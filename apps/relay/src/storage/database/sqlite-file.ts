import { chmodSync, existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { createDatabase } from "./create-database.ts";
import { toDatabaseRefusal, refuseDatabase } from "./database-refusal.ts";
import { acquireFileLock } from "./file-lock.ts";
import { createGroupCommit, yieldToEventLoop, type CommitUnit } from "../writing/group-commit.ts";
import { inspectDatabase } from "./inspect-database.ts";
import { migrate, type Migration } from "./migrate.ts";
import type { OpenResult } from "./open-result.ts";
import { readDatabase } from "./read-database.ts";
import { createReader } from "../reader.ts";
import { Statements } from "../queries/statements.ts";
import type { Reader, Storage } from "../storage.ts";

/**
 * Opens a database file that only its owner can read. It is locked against a second relay and
 * inspected before anything is written, so one that is refused stays as it was.
 */
export function openSqliteFile(
  configuredPath: string,
  migrations: readonly Migration[],
): OpenResult {
  let release = (): void => {};
  try {
    const path = resolveRealPath(configuredPath);
    const lock = acquireFileLock(`${path}-lock`);
    if (lock === undefined) {
      return refuseDatabase("database.locked", `${configuredPath} is in use by another relay`);
    }
    release = lock.release;
    const opened = openLocked(path, migrations, release);
    if (!opened.ok) release();
    return opened;
  } catch (error) {
    release();
    return toDatabaseRefusal(error, configuredPath);
  }
}

function openLocked(
  path: string,
  migrations: readonly Migration[],
  release: () => void,
): OpenResult {
  const inspected = inspectDatabase({ path, migrations });
  if (!inspected.ok) return inspected;
  if (!inspected.exists) createDatabase(path);
  // A file restored from a backup may have come with a wider mode.
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    if (existsSync(file)) chmodSync(file, 0o600);
  }
  // SQLite waits for a writer from outside by blocking the event loop: 50 ms at most.
  const db = new Sqlite(path, { fileMustExist: true, timeout: 50 });
  try {
    if (!configureDurability(db)) {
      db.close();
      return refuseDatabase("database.unusable", `${path}: no write-ahead log on this file system`);
    }
    const migrated = migrate(db, migrations);
    return { ok: true, migrated, storage: createStorage(path, db, release) };
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * 32 MiB of log instead of the usual 4: the same pages are written again and again, and a checkpoint
 * copies each only once.
 */
const PAGES_PER_CHECKPOINT = 8_192;

/** The mode that better-sqlite3 chooses for a write-ahead log can lose commits with the power. */
function configureDurability(db: Database): boolean {
  const mode = db.pragma("journal_mode = WAL", { simple: true });
  db.pragma("synchronous = FULL");
  // What was erased or forgotten is overwritten, not only given free.
  db.pragma("secure_delete = ON");
  db.pragma(`wal_autocheckpoint = ${PAGES_PER_CHECKPOINT}`);
  return mode === "wal";
}

function createStorage(path: string, db: Database, release: () => void): Storage {
  const statements = new Statements(db);
  const group = createGroupCommit(db, statements, createCommitUnit(db));
  return {
    read: createReader(db, statements, group.runBetweenBatches),
    transaction: group.transaction,
    snapshot: (work) => readDatabase(path, (read) => work(createYieldingReader(read))),
    scrub: () => group.runBetweenBatches(() => void db.pragma("wal_checkpoint(TRUNCATE)")),
    async close() {
      await group.close();
      db.close();
      release();
    },
  };
}

/** Gives everything else a turn after each statement. */
function createYieldingReader(read: Reader): Reader {
  return {
    async get(query, params) {
      const row = await read.get(query, params);
      await yieldToEventLoop();
      return row;
    },
    async all(query, params) {
      const rows = await read.all(query, params);
      await yieldToEventLoop();
      return rows;
    },
  };
}

/** A batch is a transaction. */
function createCommitUnit(db: Database): CommitUnit {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollback = db.prepare("ROLLBACK");
  return {
    begin: () => void begin.run(),
    commit: () => void commit.run(),
    rollback() {
      if (db.inTransaction) rollback.run();
    },
  };
}

/** One file has one lock, whatever links lead to it. */
function resolveRealPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}
