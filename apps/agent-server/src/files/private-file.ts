import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Creates a private folder with a `.gitignore` of its own, so that no key gets into a repository.
 */
export async function createPrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await writeFile(join(path, ".gitignore"), "*\n", { mode: 0o600 });
}

/**
 * Writes JSON atomically to a file that only its owner can read; it is on disk when this resolves.
 */
export async function writePrivateFile(path: string, value: unknown): Promise<void> {
  const temporaryPath = `${path}.${randomUUID()}.tmp`;
  try {
    await writeDurably(temporaryPath, `${JSON.stringify(value, null, 2)}\n`);
    await rename(temporaryPath, path);
  } catch (cause) {
    await rm(temporaryPath, { force: true });
    throw cause;
  }
  await syncFolder(dirname(path));
}

/** Writes a new file, because an existing one may be readable by others or be a link. */
async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Syncs the folder, because a power cut could otherwise undo the rename. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
