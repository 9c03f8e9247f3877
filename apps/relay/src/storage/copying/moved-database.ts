import type { Database } from "better-sqlite3";

/** "ARMV" in the file header, which versions that cannot read the mark refuse as a foreign file. */
const MOVED_APPLICATION_ID = 0x41524d56;

/** Returns the location that the data was moved to: host and database, never a password. */
export function findMovedTo(db: Database): string | undefined {
  if (db.pragma("application_id", { simple: true }) !== MOVED_APPLICATION_ID) return undefined;
  return db.prepare("SELECT place FROM moved_to").pluck().get() as string;
}

/** Marks a file as moved, durably and at once, so that no relay starts with it. */
export function markMoved(db: Database, place: string): void {
  db.transaction(() => {
    db.exec("CREATE TABLE IF NOT EXISTS moved_to (place TEXT PRIMARY KEY) STRICT");
    db.prepare("INSERT OR IGNORE INTO moved_to VALUES (?)").run(place);
    db.pragma(`application_id = ${MOVED_APPLICATION_ID}`);
  }).immediate();
}
