import { rename, writeFile } from "node:fs/promises";
import { readFileIfPresent } from "@agent/crypto/private-file";
import { type Note, parseCheckpoint, type TreeHead } from "@agent/transparency";

/** The newest head that was given to others, in a file beside the database. */
export interface HeadFile {
  /**
   * Reads the head and its note, without verifying its signatures; undefined if there is no file, or if a
   * power failure cut it off. Throws other file system errors.
   */
  load(): Promise<{ readonly head: TreeHead; readonly note: Note } | undefined>;
  /** Several calls write in their order. */
  save(note: string): Promise<void>;
}

/**
 * An old copy of the database that replaces the newer one has an older head than this file. A database
 * in memory has no file.
 */
export function createHeadFile(databasePath: string, name: "log-head" | "witness-head"): HeadFile {
  if (databasePath === ":memory:") return { load: async () => undefined, save: async () => {} };
  const path = `${databasePath}-${name}`;
  let saving = Promise.resolve();
  return {
    async load() {
      const parsed = parseCheckpoint((await readFileIfPresent(path)) ?? "");
      return parsed.ok ? parsed : undefined;
    },
    save(note) {
      const saved = saving.then(async () => {
        await writeFile(`${path}-next`, note, { mode: 0o600 });
        await rename(`${path}-next`, path);
      });
      saving = saved.catch(() => {});
      return saved;
    },
  };
}
