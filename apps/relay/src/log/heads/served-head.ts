import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { parseCheckpoint } from "@agent/transparency";

/** The newest head that was served, in a file beside the database. */
export interface ServedHead {
  /** Reads the origin and the size of the newest head that was served; undefined without a file. */
  load(): { readonly origin: string; readonly size: number } | undefined;
  save(note: string): Promise<void>;
}

/**
 * An old copy of the database that replaces the newer one has an older head than this file. A log
 * in memory has no file.
 */
export function createServedHead(databasePath: string): ServedHead {
  if (databasePath === ":memory:") return { load: () => undefined, save: async () => {} };
  const path = `${databasePath}-log-head`;
  return {
    load() {
      const parsed = parseCheckpoint(readIfPresent(path) ?? "");
      return parsed.ok ? parsed.head : undefined;
    },
    async save(note) {
      await writeFile(`${path}-next`, note, { mode: 0o600 });
      await rename(`${path}-next`, path);
    },
  };
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
