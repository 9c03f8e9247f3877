import { rename, writeFile } from "node:fs/promises";
import { readFileIfPresent } from "@agent/crypto/private-file";
import { parseCheckpoint } from "@agent/transparency";

/** The newest head that was served, in a file beside the database. */
export interface ServedHead {
  /**
   * Reads the origin and the size of the newest head that was served; undefined without a file, and of one that
   * a loss of power has cut off. Throws other errors of the file system.
   */
  load(): Promise<{ readonly origin: string; readonly size: number } | undefined>;
  save(note: string): Promise<void>;
}

/**
 * An old copy of the database that replaces the newer one has an older head than this file. A log
 * in memory has no file.
 */
export function createServedHead(databasePath: string): ServedHead {
  if (databasePath === ":memory:") return { load: async () => undefined, save: async () => {} };
  const path = `${databasePath}-log-head`;
  return {
    async load() {
      const parsed = parseCheckpoint((await readFileIfPresent(path)) ?? "");
      return parsed.ok ? parsed.head : undefined;
    },
    async save(note) {
      await writeFile(`${path}-next`, note, { mode: 0o600 });
      await rename(`${path}-next`, path);
    },
  };
}
