import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import * as v from "valibot";
import { createPrivateFolder, writePrivateFile } from "../files/private-file.ts";
import type { Runtime } from "../runtime.ts";

type Members = Readonly<Record<string, unknown>>;

/** One file for all calls that wait for somebody's word: the owner's and a quorum's, in members of their own. */
export interface ApprovalsFile {
  /** As the file had it at the start, not yet judged. */
  readonly initialContent: Members;
  /** Puts members into the file beside the others; false: it could not be written. */
  write(members: Members): Promise<boolean>;
  /** A member is not what it should be; nothing of it counts. */
  logUnreadable(cause: unknown): void;
}

const ApprovalsFileContent = v.pipe(
  v.unknown(),
  v.check((value) => !Array.isArray(value), "must be an object"),
  v.record(v.string(), v.unknown()),
);

export async function openApprovalsFile(
  path: string,
  runtime: Pick<Runtime, "log">,
): Promise<ApprovalsFile> {
  let current: Members = {};
  let lastWrite: Promise<unknown> = Promise.resolve();
  let queuedWrite: Promise<boolean> | undefined;

  function logUnreadable(cause: unknown): void {
    runtime.log("warn", "approvals.file_unreadable", { cause: String(cause) });
  }

  async function writeCurrent(): Promise<boolean> {
    queuedWrite = undefined;
    try {
      await createPrivateFolder(dirname(path));
      await writePrivateFile(path, current);
      return true;
    } catch (cause) {
      runtime.log("warn", "approvals.not_kept", { cause: String(cause) });
      return false;
    }
  }

  try {
    current = v.parse(ApprovalsFileContent, JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    const isFirst = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (!isFirst) logUnreadable(cause);
  }
  return {
    initialContent: current,
    logUnreadable,
    write(members) {
      current = { ...current, ...members };
      // One write at a time; those that wait for the same next one share it.
      if (queuedWrite === undefined) {
        queuedWrite = lastWrite.then(writeCurrent);
        lastWrite = queuedWrite;
      }
      return queuedWrite;
    },
  };
}
