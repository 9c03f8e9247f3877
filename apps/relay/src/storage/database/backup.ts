import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { TABLES_ENDED_BY_RESTORE } from "../tables/ended-by-restore.ts";
import { toDatabaseRefusal, refuseDatabase, type DatabaseRefusal } from "./database-refusal.ts";
import { acquireFileLock } from "./file-lock.ts";
import { inspectDatabase } from "./inspect-database.ts";
import { migrate, type Migration } from "./migrate.ts";
import { syncFile } from "./sync-file.ts";

export type CopyResult = { readonly ok: true } | DatabaseRefusal;

/**
 * Writes a snapshot of a database into a new file, also while a relay uses it. The file appears only
 * when it is complete and checked.
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
      // One read transaction, so that later commits are not in the copy.
      db.prepare("VACUUM INTO ?").run(draft);
    } finally {
      db.close();
    }
  });
}

/**
 * Restores a backup to a path where no database exists. At `now` (ms) a new incarnation of the relay
 * begins. It starts frozen, because it does not know the payments made after the backup.
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

/**
 * Begins a new incarnation, whose number is greater than that of every earlier restore of the same relay, and
 * freezes the relay.
 */
function beginIncarnation(path: string, migrations: readonly Migration[], now: number): void {
  const db = new Sqlite(path);
  try {
    // A backup may have an older schema.
    migrate(db, migrations);
    const number = Math.floor(now / 1_000);
    const reason = `restored from a backup at ${new Date(now).toISOString()}`;
    db.transaction(() => {
      db.prepare("UPDATE incarnation SET number = max(number + 1, ?)").run(BigInt(number));
      db.prepare(
        `INSERT INTO freeze (one, since, reason, restored) VALUES (1, ?, ?, 1)
         ON CONFLICT (one) DO UPDATE SET reason = excluded.reason, restored = 1`,
      ).run(BigInt(now), reason);
      for (const table of TABLES_ENDED_BY_RESTORE) db.prepare(`DELETE FROM ${table}`).run();
    }).immediate();
    // A write-ahead log that is left over would belong to the file under its old name.
    db.pragma("journal_mode = DELETE");
  } finally {
    db.close();
  }
}

/** Checks that a file is a complete database of a relay, including each index. */
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
    // Created first, so that no other user can read it at any moment.
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
