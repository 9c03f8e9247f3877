import { formatError } from "@agent/crypto";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";

/** "AgMe" marks the file as an agent's memory. */
const APPLICATION_ID = 0x41674d65;
const SCHEMA_VERSION = 1;

const SCHEMA_SQL = `
  CREATE TABLE memories (
    node_id TEXT PRIMARY KEY,
    caller TEXT NOT NULL,
    content TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    sensitivity TEXT NOT NULL
      CHECK (sensitivity IN ('none', 'personal', 'medical', 'financial', 'secret')),
    memory_type TEXT NOT NULL,
    confidence REAL NOT NULL,
    half_life_days REAL NOT NULL,
    created_at INTEGER NOT NULL,
    reinforced_at INTEGER NOT NULL,
    embedder TEXT NOT NULL,
    embedding BLOB NOT NULL,
    UNIQUE (caller, content_hash)
  ) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};`;

export type OpenDatabaseResult =
  | { readonly ok: true; readonly db: Database }
  | { readonly ok: false; readonly fault: string };

/**
 * Opens the memory at `path`, or an empty one for `:memory:`. A damaged, foreign or newer file is
 * refused and left unchanged, because the silent loss of memories would go unnoticed.
 */
export function openDatabase(path: string): OpenDatabaseResult {
  let db: Database | undefined;
  try {
    if (path !== ":memory:") createFile(path);
    db = new Sqlite(path, { timeout: 1_000 });
    const fault = initializeDatabase(db);
    if (fault !== undefined) {
      db.close();
      return { ok: false, fault: `memory.path: ${path} ${fault}` };
    }
    if (path !== ":memory:") restrictFiles(path);
    return { ok: true, db };
  } catch (cause) {
    db?.close();
    const reason = formatError(cause);
    return { ok: false, fault: `memory.path: ${path} cannot be used: ${reason}` };
  }
}

function createFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) closeSync(openSync(path, "ax", 0o600));
}

/**
 * Restricts the files to their owner, even if they were restored from a backup with a wider mode. It must
 * follow the check of the content, because `path` can name a folder or a file of another program by mistake.
 */
function restrictFiles(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    if (existsSync(file)) chmodSync(file, 0o600);
  }
}

/** Returns the fault of the database, or undefined once it has the tables. */
function initializeDatabase(db: Database): string | undefined {
  const tables = db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get();
  const id = db.pragma("application_id", { simple: true });
  const found = db.pragma("user_version", { simple: true });
  if (tables === 0) db.transaction(() => db.exec(SCHEMA_SQL))();
  else if (id !== APPLICATION_ID) return "is not an agent's memory";
  else if (found !== SCHEMA_VERSION)
    return `has version ${String(found)}, this program supports ${SCHEMA_VERSION}`;
  else if (db.pragma("quick_check(1)", { simple: true }) !== "ok") return "is damaged";
  db.pragma("journal_mode = WAL");
  // This mode is safe when the process ends; a power cut may lose the last seconds.
  db.pragma("synchronous = NORMAL");
  return undefined;
}
