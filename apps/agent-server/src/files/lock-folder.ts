import Sqlite from "better-sqlite3";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFormerHolder } from "./find-former-holder.ts";
import { createPrivateFolder } from "./private-file.ts";

/** A database that nothing refers to is closed by the garbage collector, and its lock ends with it. */
const heldLocks = new Set<Sqlite.Database>();

export type FolderLock =
  | { readonly ok: true; release(): void }
  | { readonly ok: false; readonly fault: string };

/**
 * Locks a data folder against a second process: two would share one identity, send each receipt
 * twice and lose approvals. The operating system's lock on a file is used because it ends with its
 * process, even after a crash. The pid file names that process to the owner, and to a process that finds no
 * lock file, because the lock of a deleted file keeps no other process out.
 */
export async function lockFolder(
  path: string,
  { pid, isAlive }: { readonly pid: number; readonly isAlive: (pid: number) => boolean },
): Promise<FolderLock> {
  await createPrivateFolder(path);
  const lockPath = join(path, "agent.lock");
  const pidPath = join(path, "agent.pid");
  const fault = () =>
    `${path}: is in use by another agent-server, process ${readPid(pidPath) ?? "unknown"}`;
  const holder = findFormerHolder(
    { hasLockFile: existsSync(lockPath), statedPid: readPid(pidPath), ownPid: pid },
    isAlive,
  );
  if (holder !== undefined) {
    const remedy = `if that process is another program, delete ${pidPath}`;
    return { ok: false, fault: `${fault()}, whose agent.lock was deleted; ${remedy}` };
  }
  // SQLite would create a file that others can read.
  closeSync(openSync(lockPath, "a", 0o600));
  // If two start at the same time, each can meet the other one's attempt, so both wait a little.
  const lockDatabase = new Sqlite(lockPath, { timeout: 300 });
  try {
    lockDatabase.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    lockDatabase.close();
    if (!isBusy(cause)) throw cause;
    return { ok: false, fault: fault() };
  }
  try {
    writeFileSync(pidPath, `${pid}\n`, { mode: 0o600 });
  } catch (cause) {
    lockDatabase.close();
    throw cause;
  }
  heldLocks.add(lockDatabase);
  return {
    ok: true,
    release() {
      heldLocks.delete(lockDatabase);
      lockDatabase.close();
    },
  };
}

function readPid(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

function isBusy(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "SQLITE_BUSY";
}
