import { resumeInbound } from "../federation/inbound/resume-inbound.ts";
import { resumeOutbound } from "../federation/outbound/resume-outbound.ts";
import { bindCurrentTrace } from "../observability/trace.ts";
import type { Runtime } from "../runtime.ts";
import { StorageFrozen, type Reader, type Storage } from "../storage/storage.ts";
import { clearPeerClaimTimes, postponeOpenTasks } from "../tasks/assignment/postpone-store.ts";
import { findFreeze, findIncarnation, insertFreeze, deleteFreeze } from "./freeze-store.ts";

/** Since when the relay stands still, and why. */
export interface FreezeState {
  readonly since: number;
  readonly reason: string;
  /** Whether it stands still because its database was restored from a backup. */
  readonly restored: boolean;
}

/** The operator's brake (docs/decisions.md, 5). */
export interface Freezer {
  /** Which life of the relay its database is: grows with every restore of a backup. */
  readonly incarnation: number;
  /** Undefined while the relay works. */
  frozen(): FreezeState | undefined;
  /** The time by which tasks expire: it stands still with the relay. */
  readonly taskTime: () => number;
  /** Since when the relay works: its start, or the end of its last freeze. */
  readonly runningSince: () => number;
  freeze(reason: string): Promise<FreezeState>;
  unfreeze(): Promise<void>;
  /** Reads everything as of one moment, frozen or not. */
  readSnapshot<T>(work: (read: Reader) => Promise<T>): Promise<T>;
  /** The storage for everything else: it takes no transaction while the relay is frozen. */
  readonly storage: Storage;
}

/** A relay that was frozen when it ended is frozen when it starts again. */
export async function loadFreezer(
  storage: Storage,
  { now }: Pick<Runtime, "now">,
): Promise<Freezer> {
  const stored = await findFreeze(storage.read);
  let current: FreezeState | undefined = stored && { ...stored, restored: stored.restored === 1 };
  const incarnation = await findIncarnation(storage.read);
  let runningSince = now();

  return {
    incarnation,
    frozen: () => current,
    runningSince: () => runningSince,
    taskTime: () => current?.since ?? now(),
    async freeze(reason) {
      if (current !== undefined) return current;
      const next = { since: now(), reason, restored: false };
      // At once, so that nothing slips in behind the transaction that says so.
      current = next;
      try {
        await storage.transaction((tx) => insertFreeze(tx, next));
      } catch (error) {
        current = undefined;
        throw error;
      }
      return next;
    },
    async unfreeze() {
      await storage.transaction(async (tx) => {
        const ended = await deleteFreeze(tx);
        if (ended === undefined) return;
        const pausedMs = Math.max(0, now() - ended.since);
        const restored = ended.restored === 1;
        await postponeOpenTasks(tx, pausedMs);
        if (restored) await clearPeerClaimTimes(tx);
        await resumeOutbound(tx, pausedMs);
        await resumeInbound(tx, { now: now(), pausedMs, restored });
      });
      runningSince = now();
      current = undefined;
    },
    readSnapshot: (work) => storage.snapshot(work),
    storage: {
      ...storage,
      transaction: (work) =>
        current === undefined
          ? // A batch runs the jobs of many requests, each in the trace of its own.
            storage.transaction(bindCurrentTrace(work))
          : Promise.reject(new StorageFrozen("the relay is frozen")),
    },
  };
}
