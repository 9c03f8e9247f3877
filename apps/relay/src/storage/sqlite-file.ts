import { chmodSync, existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { createDatabase } from "./create-database.ts";
import { refusalOf, refuseDatabase } from "./database-refusal.ts";
import { lockFile } from "./file-lock.ts";
import { createGroupCommit, nextTurn, type Unit } from "./group-commit.ts";
import { inspectDatabase } from "./inspect-database.ts";
import { migrate, type Migration } from "./migrate.ts";
import type { Opened } from "./open.ts";
import { readDatabase } from "./read-database.ts";
import { createReader } from "./reader.ts";
import { Statements } from "./statements.ts";
import type { Reader, Storage } from "./storage.ts";

/**
 * Opens a database file that only its owner can read. It is locked against a second relay and
 * inspected before anything is written, so one that is refused stays as it was.
 */
export function openSqliteFile(given: string, migrations: readonly Migration[]): Opened {
  let release = (): void => {};
  try {
    const path = realPath(given);
    const lock = lockFile(`${path}-lock`);
    if (lock === undefined) {
      return refuseDatabase("database.locked", `${given} is in use by another relay`);
    }
    release = lock.release;
    const opened = openLocked(path, migrations, release);
    if (!opened.ok) release();
    return opened;
  } catch (error) {
    release();
    return refusalOf(error, given);
  }
}

function openLocked(path: string, migrations: readonly Migration[], release: () => void): Opened {
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
    if (!makeDurable(db)) {
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
const pagesPerCheckpoint = 8_192;

/** The mode that better-sqlite3 chooses for a write-ahead log can lose commits with the power. */
function makeDurable(db: Database): boolean {
  const mode = db.pragma("journal_mode = WAL", { simple: true });
  db.pragma("synchronous = FULL");
  // What was erased or forgotten is overwritten, not only given free.
  db.pragma("secure_delete = ON");
  db.pragma(`wal_autocheckpoint = ${pagesPerCheckpoint}`);
  return mode === "wal";
}

function createStorage(path: string, db: Database, release: () => void): Storage {
  const statements = new Statements(db);
  const group = createGroupCommit(db, statements, createUnit(db));
  return {
    read: createReader(db, statements, group.between),
    transaction: group.transaction,
    snapshot: (work) => readDatabase(path, (read) => work(inTurns(read))),
    scrub: () => group.between(() => void db.pragma("wal_checkpoint(TRUNCATE)")),
    async close() {
      await group.close();
      db.close();
      release();
    },
  };
}

/** Gives everything else a turn after each statement. */
function inTurns(read: Reader): Reader {
  return {
    async get(query, params) {
      const row = await read.get(query, params);
      await nextTurn();
      return row;
    },
    async all(query, params) {
      const rows = await read.all(query, params);
      await nextTurn();
      return rows;
    },
  };
}

/** A batch is a transaction. */
function createUnit(db: Database): Unit {
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
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}
