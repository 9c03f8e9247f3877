import type { ChangeKind, Storage } from "../storage/storage.ts";
import {
  findLookStart,
  KEEP_CHANGES_MS,
  listChanges,
  listRecentChanges,
  type FoundChanges,
  type LookPosition,
} from "./changes-store.ts";

/** The words of a change's key. */
export type ChangeWords = readonly string[];

/** Handles the changes of one kind that a read has found. */
export type ChangeHandlers = {
  readonly [Kind in ChangeKind]: (changes: readonly ChangeWords[]) => Promise<void> | void;
};

/** Follows what the other processes have changed. */
export interface ChangeTail {
  /**
   * Reads the changes since the last read and handles each once, or some of them again after the server has
   * crashed. Callers that arrive during a read wait for the next one, which they share.
   */
  look(): Promise<void>;
  /** Returns the time in ms since the last complete read began. */
  age(): number;
  /** Whether changes may have been deleted before this process read them. */
  isLost(): boolean;
}

export type TailStart = LookPosition;

interface TailDependencies {
  readonly storage: Pick<Storage, "reserved" | "origin">;
  readonly elapsed: () => number;
  /** The answer of `beginTail`. */
  readonly start: TailStart;
  readonly handlers: ChangeHandlers;
}

/** Must be called before the state is loaded that the tail keeps up to date. */
export const beginTail = findLookStart;

/** Changes are deleted by the clock of the database, which may run faster than this machine's. */
const MAX_AGE_MS = KEEP_CHANGES_MS / 2;

/**
 * After a crash of the server a read begins this much before the last one, because the server's clock may
 * have changed.
 */
const CRASH_OVERLAP_MS = 60_000;

export function createChangeTail({
  storage: { reserved, origin },
  elapsed,
  start,
  handlers,
}: TailDependencies): ChangeTail {
  let position = start;
  let lookedAt = elapsed();
  /** The handled changes that the next read lists again, with their transactions. */
  const handled = new Map<number, number>();
  const age = () => elapsed() - lookedAt;

  /** A server that crashed gives later changes the numbers of earlier transactions, so they are listed by time. */
  async function list(): Promise<FoundChanges> {
    const found = await listChanges(reserved, { since: position.since, origin });
    if (found.next.server === position.server) return found;
    handled.clear();
    return listRecentChanges(reserved, { maxAge: age() + CRASH_OVERLAP_MS, origin });
  }

  async function lookOnce(): Promise<void> {
    const beganAt = elapsed();
    const { changes, next } = await list();
    const fresh = changes.filter(({ id }) => !handled.has(id));
    for (const [kind, ofKind] of Map.groupBy(fresh, (change) => change.kind)) {
      const keys = new Set(ofKind.map(({ key }) => key));
      const words = Array.from(keys, (key) => (key === "" ? [] : key.split(" ")));
      await handlers[kind as ChangeKind]?.(words);
    }
    // A read whose handling failed is repeated as a whole, which does no harm.
    for (const { id, xid } of fresh) handled.set(id, xid);
    for (const [id, xid] of handled) if (xid < next.since) handled.delete(id);
    position = next;
    lookedAt = beganAt;
  }

  return { look: shareRuns(lookOnce), age, isLost: () => age() > MAX_AGE_MS };
}

/** Returns a function that runs `work` once at a time, and once more for all calls during a run. */
function shareRuns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = (): Promise<void> => {
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  const runNext = () => {
    next = undefined;
    return run();
  };
  return () => {
    if (running === undefined) return run();
    next ??= running.then(runNext, runNext);
    return next;
  };
}
