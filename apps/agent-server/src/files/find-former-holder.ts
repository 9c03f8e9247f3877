/** The traces that a process leaves in the folder that it locks. */
export interface LockTraces {
  readonly hasLockFile: boolean;
  /** The text of the pid file; undefined if it cannot be read. */
  readonly statedPid: string | undefined;
  /** The pid of the process that is about to lock the folder. */
  readonly ownPid: number;
}

/**
 * Returns the process that may still use a folder although its lock file is gone; undefined if there is none. No
 * process deletes its lock file, so that one which is missing beside a pid file was deleted by hand, perhaps while
 * its process was running. In a container a new process often has the pid of the last one.
 */
export function findFormerHolder(
  { hasLockFile, statedPid, ownPid }: LockTraces,
  isAlive: (pid: number) => boolean,
): number | undefined {
  if (hasLockFile || statedPid === undefined || !/^[1-9]\d{0,9}$/.test(statedPid)) return undefined;
  const pid = Number(statedPid);
  return pid !== ownPid && isAlive(pid) ? pid : undefined;
}
