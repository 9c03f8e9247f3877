import { chmodSync, readFileSync, writeFileSync } from "node:fs";

/** Stands beside the database, because a backup is made while a relay holds the lock for writing. */
const noteOf = (databasePath: string) => `${databasePath}-last-backup`;

/** Notes when the database was last backed up, in ms. */
export function saveBackupNote(databasePath: string, at: number): void {
  writeFileSync(noteOf(databasePath), `${at}\n`, { mode: 0o600 });
  chmodSync(noteOf(databasePath), 0o600);
}

/** Returns when the database was last backed up, in ms; null if that is not noted. */
export function readBackupNote(databasePath: string): number | null {
  try {
    const text = readFileSync(noteOf(databasePath), "utf8").trim();
    return /^\d{1,15}$/.test(text) ? Number(text) : null;
  } catch {
    return null;
  }
}
