import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import * as v from "valibot";
import { prepareFolder, writePrivately } from "../private-file.ts";
import type { Runtime } from "../runtime.ts";

type Members = Readonly<Record<string, unknown>>;

/** One file for all calls that wait for somebody's word: the owner's and a quorum's, in members of their own. */
export interface ApprovalsFile {
  /** As the file had it at the start, not yet judged. */
  readonly read: Members;
  /** Puts members into the file beside the others; false: it could not be written. */
  write(members: Members): Promise<boolean>;
  /** A member is not what it should be; nothing of it counts. */
  unreadable(cause: unknown): void;
}

const File = v.pipe(
  v.unknown(),
  v.check((value) => !Array.isArray(value), "must be an object"),
  v.record(v.string(), v.unknown()),
);

export async function openApprovalsFile(
  path: string,
  runtime: Pick<Runtime, "log">,
): Promise<ApprovalsFile> {
  let current: Members = {};
  let writing: Promise<unknown> = Promise.resolve();
  let next: Promise<boolean> | undefined;

  function unreadable(cause: unknown): void {
    runtime.log("warn", "approvals.file_unreadable", { cause: String(cause) });
  }

  async function write(): Promise<boolean> {
    next = undefined;
    try {
      await prepareFolder(dirname(path));
      await writePrivately(path, current);
      return true;
    } catch (cause) {
      runtime.log("warn", "approvals.not_kept", { cause: String(cause) });
      return false;
    }
  }

  try {
    current = v.parse(File, JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    const isFirst = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (!isFirst) unreadable(cause);
  }
  return {
    read: current,
    unreadable,
    write(members) {
      current = { ...current, ...members };
      // One write at a time; those that wait for the same next one share it.
      if (next === undefined) {
        next = writing.then(write);
        writing = next;
      }
      return next;
    },
  };
}
