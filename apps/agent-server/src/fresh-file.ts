import { readFileSync, statSync } from "node:fs";
import type { Runtime } from "./runtime.ts";

/**
 * What a file says, read again whenever the file has changed: a look at its dates costs microseconds, and
 * what is asked acts at once, which a watcher of the system cannot promise. While the file cannot be read,
 * what it said before stands.
 */
export function freshFile<T>(options: {
  readonly path: string;
  readonly initial: T;
  /** Undefined: the text cannot be used. */
  readonly parse: (text: string) => T | undefined;
  readonly runtime: Pick<Runtime, "log">;
}): () => T {
  const { path, parse, runtime } = options;
  let value = options.initial;
  let seen: string | undefined;

  return () => {
    const version = versionOf(path);
    if (version === seen) return value;
    seen = version;
    const read = version === undefined ? undefined : parse(textOf(path));
    if (read === undefined) runtime.log("warn", "file.not_read_again", { path });
    else value = read;
    return value;
  };
}

function versionOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
