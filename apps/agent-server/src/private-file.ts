import { mkdir, open, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Makes a folder of the agent's own; it ignores itself, so that no key slips into a repository. */
export async function prepareFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await writeFile(join(path, ".gitignore"), "*\n", { mode: 0o600 });
}

/** Puts JSON in a file whole or not at all, for its owner only; it is on the disk when this resolves. */
export async function writePrivately(path: string, value: unknown): Promise<void> {
  const draft = `${path}.tmp`;
  const handle = await open(draft, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, path);
}
