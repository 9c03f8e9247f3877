import { randomUUID } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Builds the text of a file from its origin, which distinguishes it from each of its copies. */
export type BuildText = (origin: string) => string;

/**
 * Writes a UTF-8 text atomically to a file of mode 0600, which replaces an existing one and is never
 * visible in part. The text is on disk when this resolves; a failed write leaves the existing file.
 */
export async function writePrivateText(path: string, text: string | BuildText): Promise<void> {
  const temporaryPath = `${path}.${randomUUID()}.tmp`;
  try {
    await writeDurably(temporaryPath, text);
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Reads a UTF-8 text file; undefined if there is none. Throws other file system errors. */
export async function readFileIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
}

/**
 * Returns the origin of an existing file: its number in the file system and the time of its creation. A copy has
 * another one, also a copy that overwrites the file; a snapshot of the whole disk has the same.
 */
export async function readFileOrigin(path: string): Promise<string> {
  return formatOrigin(await stat(path, { bigint: true }));
}

function formatOrigin({ ino, birthtimeNs }: BigIntStats): string {
  return `${ino} ${birthtimeNs}`;
}

/** Returns whether a file system call failed because there is no such file or folder. */
export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Writes a new file, because an existing one may be readable by others or be a link. */
async function writeDurably(path: string, text: string | BuildText): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    const isBuilt = typeof text === "function";
    await file.writeFile(isBuilt ? text(formatOrigin(await file.stat({ bigint: true }))) : text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Syncs the folder, because a power cut could otherwise undo the rename. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
