import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { toDatabaseRefusal, refuseDatabase, type DatabaseRefusal } from "./database-refusal.ts";
import { acquireFileLock } from "./file-lock.ts";
import { inspectDatabase } from "./inspect-database.ts";
import { migrate, type Migration } from "./migrate.ts";

export type CopyResult = { readonly ok: true } | DatabaseRefusal;

/**
 * Writes what a database holds at one moment into a new file, also while a relay writes on. The file
 * appears whole and checked, or not at all.
 */
export function backupDatabase(
  path: string,
  to: string,
  migrations: readonly Migration[],
): CopyResult {
  const inspected = checkDatabase(path, migrations);
  if (!inspected.ok) return inspected;
  return writeAtomically(to, migrations, (draft) => {
    const db = new Sqlite(path, { readonly: true, timeout: 5_000 });
    try {
      // One read transaction: what is committed meanwhile is not in it.
      db.prepare("VACUUM INTO ?").run(draft);
    } finally {
      db.close();
    }
  });
}

/**
 * Puts a backup in the place of a database that is not there; one that is there stays. At `now` (ms) a
 * new incarnation of the relay begins, and it starts frozen: what was paid after the backup is
 * unknown to it.
 */
export function restoreDatabase(
  from: string,
  path: string,
  migrations: readonly Migration[],
  now: number,
): CopyResult {
  const inspected = checkDatabase(from, migrations);
  if (!inspected.ok) return inspected;
  const lock = acquireFileLock(`${path}-lock`);
  if (lock === undefined) return refuseDatabase("database.locked", `${path} is in use by a relay`);
  try {
    const log = `${path}-wal`;
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0) {
      return refuseDatabase("database.exists", `${log} belongs to another database`);
    }
    for (const file of [log, `${path}-shm`]) rmSync(file, { force: true });
    return writeAtomically(path, migrations, (draft) => {
      copyFileSync(from, draft);
      beginIncarnation(draft, migrations, now);
    });
  } finally {
    lock.release();
  }
}

/** The number grows with every restore of the same relay, whichever backup was taken. */
function beginIncarnation(path: string, migrations: readonly Migration[], now: number): void {
  const db = new Sqlite(path);
  try {
    // A backup may be of an older version.
    migrate(db, migrations);
    const number = Math.floor(now / 1_000);
    const reason = `restored from a backup at ${new Date(now).toISOString()}`;
    db.transaction(() => {
      db.prepare("UPDATE incarnation SET number = max(number + 1, ?)").run(BigInt(number));
      db.prepare(
        `INSERT INTO freeze (one, since, reason, restored) VALUES (1, ?, ?, 1)
         ON CONFLICT (one) DO UPDATE SET reason = excluded.reason, restored = 1`,
      ).run(BigInt(now), reason);
    }).immediate();
    // What is left of a write-ahead log would belong to the file under its old name.
    db.pragma("journal_mode = DELETE");
  } finally {
    db.close();
  }
}

/** Whether a file is a whole database of a relay, index by index. */
export function checkDatabase(path: string, migrations: readonly Migration[]): CopyResult {
  const inspected = inspectDatabase({ path, migrations, check: "full" });
  if (!inspected.ok) return inspected;
  return inspected.exists
    ? { ok: true }
    : refuseDatabase("database.missing", `${path} does not exist`);
}

function writeAtomically(
  to: string,
  migrations: readonly Migration[],
  write: (draft: string) => void,
): CopyResult {
  if (existsSync(to)) return refuseDatabase("database.exists", `${to} exists already`);
  const draft = `${to}-partial`;
  try {
    // Made first, so that nobody else can read it at any moment.
    rmSync(draft, { force: true });
    closeSync(openSync(draft, "wx", 0o600));
    write(draft);
    chmodSync(draft, 0o600);
    const whole = inspectDatabase({ path: draft, migrations, check: "full" });
    if (!whole.ok) return whole;
    syncFile(draft);
    renameSync(draft, to);
    syncFile(dirname(to));
    return { ok: true };
  } catch (error) {
    return toDatabaseRefusal(error, to);
  } finally {
    rmSync(draft, { force: true });
  }
}

function syncFile(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}
