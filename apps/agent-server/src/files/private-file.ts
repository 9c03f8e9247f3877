import { isMissingFile, writePrivateText } from "@agent/crypto/private-file";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * Creates a private folder with a `.gitignore` of its own, so that no key gets into a repository. Nothing is
 * written to a folder that has one, so that a full disk neither empties that file nor prevents a lock.
 */
export async function createPrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const ignoreFile = join(path, ".gitignore");
  if (await isMissing(ignoreFile)) await writePrivateText(ignoreFile, "*\n");
}

async function isMissing(path: string): Promise<boolean> {
  try {
    await stat(path);
    return false;
  } catch (error) {
    if (isMissingFile(error)) return true;
    throw error;
  }
}

/**
 * Writes JSON atomically to a file that only its owner can read; it is on disk when this resolves.
 */
export async function writePrivateFile(path: string, value: unknown): Promise<void> {
  await writePrivateText(path, formatJson(value));
}

/** Does the same for a value that names the origin of its file, so that a copy of the file is recognized. */
export async function writeWithOrigin(
  path: string,
  build: (origin: string) => unknown,
): Promise<void> {
  await writePrivateText(path, (origin) => formatJson(build(origin)));
}

function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
