import Sqlite from "better-sqlite3";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPrivateFolder } from "./private-file.ts";

export type FolderLock =
  | { readonly ok: true; release(): void }
  | { readonly ok: false; readonly fault: string };

/**
 * Keeps a second process off a data folder: two would share one identity, send each receipt twice and lose
 * approvals. The system's own lock on a file is used, which ends with its process however that ends, so that
 * none is left behind. The pid beside it only tells the owner which process that is.
 */
export async function lockFolder(path: string, pid: number): Promise<FolderLock> {
  await createPrivateFolder(path);
  const lockPath = join(path, "agent.lock");
  const pidPath = join(path, "agent.pid");
  // Not left to SQLite, which would let others read the file.
  closeSync(openSync(lockPath, "a", 0o600));
  const lockDatabase = new Sqlite(lockPath, { timeout: 0 });
  try {
    lockDatabase.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    lockDatabase.close();
    if (!isBusy(cause)) throw cause;
    const fault = `${path}: is in use by another agent-server, process ${readPid(pidPath)}`;
    return { ok: false, fault };
  }
  writeFileSync(pidPath, `${pid}\n`, { mode: 0o600 });
  return { ok: true, release: () => void lockDatabase.close() };
}

function readPid(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "unknown";
  }
}

function isBusy(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "SQLITE_BUSY";
}
