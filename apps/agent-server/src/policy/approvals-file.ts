import { readFileIfPresent, readFileOrigin } from "@agent/crypto/private-file";
import * as v from "valibot";
import { createStateFile } from "../files/state-file.ts";
import type { Runtime } from "../runtime.ts";

type Members = Readonly<Record<string, unknown>>;

/**
 * The file of all calls that wait for an approval: the owner's and a quorum's, in separate members.
 */
export interface ApprovalsFile {
  /** The unchecked content of the file at the start. */
  readonly initialContent: Members;
  /** Whether the file was copied or put back from a backup, and may lack that an approval in it was used since. */
  readonly isCopy: boolean;
  /** Merges members into the file; returns false when it could not be written. */
  write(members: Members): Promise<boolean>;
  /** Logs a malformed member, which is then ignored. */
  logUnreadable(cause: unknown): void;
}

const APPROVE_AGAIN =
  "the data folder was copied or put back from a backup: approvals that were given must be given again";

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
  let isCopy = false;
  const writeCurrent = createStateFile({
    path,
    getContent: (origin) => ({ ...current, origin }),
    onFault: (cause) => runtime.log("warn", "approvals.not_kept", { cause: String(cause) }),
  });

  function logUnreadable(cause: unknown): void {
    runtime.log("warn", "approvals.file_unreadable", { cause: String(cause) });
  }

  try {
    const text = await readFileIfPresent(path);
    if (text !== undefined) {
      current = v.parse(ApprovalsFileContent, JSON.parse(text));
      const { origin } = current;
      // The files of earlier versions name none.
      isCopy = origin !== undefined && origin !== (await readFileOrigin(path));
    }
  } catch (cause) {
    logUnreadable(cause);
  }
  if (isCopy) runtime.log("warn", "approvals.copied", { file: path, remedy: APPROVE_AGAIN });
  return {
    initialContent: current,
    isCopy,
    logUnreadable,
    write(members) {
      current = { ...current, ...members };
      return writeCurrent();
    },
  };
}
