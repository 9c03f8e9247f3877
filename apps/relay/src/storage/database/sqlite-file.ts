import { chmodSync, existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { createFileCheck, type FileCheck } from "../check/file-check.ts";
import { createDatabase } from "./create-database.ts";
import { toDatabaseRefusal, refuseDatabase } from "./database-refusal.ts";
import { acquireFileLock } from "./file-lock.ts";
import { createGroupCommit } from "../writing/group-commit.ts";
import type { CommitUnit } from "../writing/batch-runner.ts";
import { inspectDatabase, START_TIMEOUT_MS } from "./inspect-database.ts";
import { migrate, type Migration } from "./migrate.ts";
import type { OpenResult } from "./open-result.ts";
import { readDatabase } from "./read-database.ts";
import { createReader } from "../reader.ts";
import { Statements } from "../queries/statements.ts";
import { unsharedStorage, type Storage } from "../storage.ts";
import { createYieldingReader } from "../yielding-reader.ts";

/**
 * Opens a database file that only its owner can read. It is locked against a second relay and
 * inspected before the first write, so a refused file is not changed.
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
  const created = inspected.exists ? [] : createDatabase(path, migrations);
  // A file from a backup may be readable by other users.
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    if (existsSync(file)) chmodSync(file, 0o600);
  }
  const db = new Sqlite(path, { fileMustExist: true, timeout: START_TIMEOUT_MS });
  try {
    if (!configureDurability(db)) {
      db.close();
      return refuseDatabase("database.unusable", `${path}: no write-ahead log on this file system`);
    }
    const migrated = [...created, ...migrate(db, migrations)];
    db.pragma(`busy_timeout = ${TIMEOUT_MS}`);
    const fileCheck = createFileCheck(path);
    return { ok: true, migrated, fileCheck, storage: createStorage(path, db, fileCheck, release) };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** SQLite blocks the event loop while it waits for another writer. */
const TIMEOUT_MS = 50;

/**
 * A log of 32 MiB instead of the usual 4, because the same pages are written repeatedly and a
 * checkpoint copies each only once.
 */
const PAGES_PER_CHECKPOINT = 8_192;

/** The default of better-sqlite3 for a write-ahead log can lose commits in a power failure. */
function configureDurability(db: Database): boolean {
  const mode = db.pragma("journal_mode = WAL", { simple: true });
  db.pragma("synchronous = FULL");
  // Deleted data is overwritten, not only released.
  db.pragma("secure_delete = ON");
  db.pragma(`wal_autocheckpoint = ${PAGES_PER_CHECKPOINT}`);
  return mode === "wal";
}

function createStorage(
  path: string,
  db: Database,
  fileCheck: FileCheck,
  release: () => void,
): Storage {
  const statements = new Statements(db);
  const group = createGroupCommit(db, statements, createCommitUnit(db));
  const read = createReader(db, statements, group.runBetweenBatches);
  return {
    ...unsharedStorage,
    read,
    reserved: read,
    transaction: group.transaction,
    onAgentsChanged: (listener) => statements.changes.subscribe(listener),
    snapshot: (work) => readDatabase(path, (read) => work(createYieldingReader(read))),
    scrub: () => group.runBetweenBatches(() => !fileCheck.isDamaged() && truncateLog(db)),
    async close() {
      await Promise.all([fileCheck.stop(), group.close()]);
      // SQLite copies its log into the file when the last connection closes, if that one may write.
      const reader = fileCheck.isDamaged() ? openIdleReader(path) : undefined;
      db.close();
      reader?.close();
      release();
    },
  };
}

/** Copies the log into the file and empties it; false if a reader still needs a part of it. */
function truncateLog(db: Database): boolean {
  const [result] = db.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
  return result?.busy === 0;
}

function openIdleReader(path: string): Database {
  const reader = new Sqlite(path, { readonly: true });
  // A connection takes part in the file's locks from its first statement on.
  reader.pragma("schema_version");
  return reader;
}

/** Commits each batch as a transaction. */
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

/** Resolves links, so that one file has one lock. */
function resolveRealPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}
