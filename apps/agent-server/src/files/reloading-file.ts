import { readFileSync, statSync } from "node:fs";
import type { Runtime } from "../runtime.ts";

/**
 * Reads a file again whenever it has changed. Checking its dates costs microseconds and takes
 * effect at once, which a file watcher cannot guarantee. While the file cannot be read, the last
 * value stays in force.
 */
export function createReloadingFile<T>(options: {
  readonly path: string;
  readonly initial: T;
  /** Returns undefined for an unusable text. */
  readonly parse: (text: string) => T | undefined;
  readonly runtime: Pick<Runtime, "log">;
}): () => T {
  const { path, parse, runtime } = options;
  let value = options.initial;
  let loadedVersion: string | undefined;

  return () => {
    const version = getFileVersion(path);
    if (version === loadedVersion) return value;
    loadedVersion = version;
    const parsed = version === undefined ? undefined : parse(readTextOrEmpty(path));
    if (parsed === undefined) runtime.log("warn", "file.not_read_again", { path });
    else value = parsed;
    return value;
  };
}

function getFileVersion(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}

function readTextOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
