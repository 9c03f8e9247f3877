import { resumeInbound } from "../federation/inbound/resume-inbound.ts";
import { resumeOutbound } from "../federation/outbound/resume-outbound.ts";
import { extendInspectionsIn } from "../inspections/extend-deadlines.ts";
import { postponeInspections } from "../inspections/store.ts";
import { recordRelayEvent } from "../feed/record-event.ts";
import { beginRestoredGeneration } from "../log/generation.ts";
import { bindCurrentTrace } from "../observability/trace.ts";
import type { Runtime } from "../runtime.ts";
import { StorageFrozen, type Reader, type Storage, type Tx } from "../storage/storage.ts";
import type { FreezeRow } from "../storage/tables/admin.ts";
import { clearPeerClaimTimes, postponeOpenTasks } from "../tasks/assignment/postpone-store.ts";
import { calculateElapsed } from "../clock/calculate-elapsed.ts";
import { findFreeze, insertFreeze, deleteFreeze } from "./freeze-store.ts";
import { findIncarnation } from "./restore/incarnation-store.ts";

/** The start and the reason of a freeze. */
export interface FreezeState {
  readonly since: number;
  readonly reason: string;
  /** Whether the relay is frozen because its database was restored from a backup. */
  readonly restored: boolean;
  /** Whether the file of the database is damaged. Nothing is written to it until the relay ends. */
  readonly damaged: boolean;
  /** The name of the operator that froze it; null if the relay did. */
  readonly by: string | null;
}

/** Freezes and unfreezes the relay (docs/decisions.md, 5). */
export interface Freezer {
  /** The incarnation of the database, which grows with every restore of a backup. */
  readonly incarnation: number;
  /** Returns undefined while the relay is not frozen. */
  frozen(): FreezeState | undefined;
  /** The clock that tasks expire by. It stops while the relay is frozen. */
  readonly taskTime: () => number;
  /** Returns the start of the relay or the end of its last freeze. */
  readonly runningSince: () => number;
  freeze(reason: string, by: string): Promise<FreezeState>;
  /** Freezes in memory only and until the relay ends, because its database is damaged. */
  freezeDamaged(reason: string): void;
  unfreeze(): Promise<void>;
  /**
   * Runs a transaction also while the relay is frozen: for records about the relay itself, never for tasks
   * or money. Rejects like `storage` while the database is damaged.
   */
  writeAlways: Storage["transaction"];
  /** Reads again whether the relay is frozen, because another process can freeze and unfreeze it. */
  refresh(): Promise<void>;
  /** Reads a snapshot, also while the relay is frozen. */
  readSnapshot<T>(work: (read: Reader) => Promise<T>): Promise<T>;
  /** The storage for all other code. It refuses transactions while the relay is frozen. */
  readonly storage: Storage;
}

/** Loads the freeze that was in force when the relay stopped. */
export async function loadFreezer(
  storage: Storage,
  { now }: Pick<Runtime, "now">,
): Promise<Freezer> {
  let current = toFreezeState(await findFreeze(storage.read));
  const incarnation = await findIncarnation(storage.read);
  let runningSince = now();

  return {
    incarnation,
    frozen: () => current,
    runningSince: () => runningSince,
    taskTime: () => current?.since ?? now(),
    async freeze(reason, by) {
      if (current !== undefined) return current;
      const next = { since: now(), reason, restored: false, damaged: false, by };
      // Set before the transaction, so that no other transaction starts after it.
      current = next;
      try {
        const stored = await storage.transaction(async (tx) => {
          const row = { since: next.since, reason, frozen_by: by };
          if (await insertFreeze(tx, row)) {
            await recordRelayEvent(tx, { at: next.since, type: "relay.frozen" }, { reason, by });
          }
          return findFreeze(tx);
        });
        if (current === next) current = toFreezeState(stored);
      } catch (error) {
        if (current === next) current = undefined;
        throw error;
      }
      return current ?? next;
    },
    freezeDamaged(reason) {
      const since = current?.since ?? now();
      current = { since, reason, restored: current?.restored ?? false, damaged: true, by: null };
    },
    async unfreeze() {
      await storage.transaction((tx) => endFreeze(tx, { incarnation, now: now() }));
      runningSince = now();
      // Damage found in the meantime keeps the relay frozen.
      if (current?.damaged !== true) current = undefined;
    },
    writeAlways: (work, isolation) =>
      current?.damaged === true
        ? Promise.reject(new StorageFrozen(current.reason))
        : storage.transaction(bindCurrentTrace(work), isolation),
    async refresh() {
      const before = current;
      const stored = toFreezeState(await findFreeze(storage.reserved));
      // This process has changed it since the read began, or keeps it because of damage.
      if (current !== before || current?.damaged === true) return;
      if (before !== undefined && stored === undefined) runningSince = now();
      if (before === undefined || stored === undefined) current = stored;
    },
    readSnapshot: (work) => storage.snapshot(work),
    storage: {
      ...storage,
      transaction: (work, isolation) =>
        current === undefined
          ? // A batch runs the transactions of many requests, each in its own trace.
            storage.transaction(bindCurrentTrace(whileRunning(storage, work)), isolation)
          : Promise.reject(new StorageFrozen(current.reason)),
    },
  };
}

/** Ends the freeze, and moves every deadline by its length. */
async function endFreeze(
  tx: Tx,
  { incarnation, now }: { readonly incarnation: number; readonly now: number },
): Promise<void> {
  const ended = await deleteFreeze(tx);
  if (ended === undefined) return;
  const pausedMs = calculateElapsed(ended.since, now);
  const restored = ended.restored === 1;
  await beginRestoredGeneration(tx, { incarnation, now });
  await postponeOpenTasks(tx, pausedMs);
  await postponeInspections(tx, pausedMs);
  if (restored) {
    await clearPeerClaimTimes(tx);
    // No party reached the relay between the backup and the freeze, and messages of that time are lost.
    await extendInspectionsIn(tx, now);
  }
  await resumeOutbound(tx, pausedMs);
  await resumeInbound(tx, { now, pausedMs, restored });
  await recordRelayEvent(tx, { at: now, type: "relay.unfrozen" }, { paused_ms: pausedMs });
}

function toFreezeState(row: FreezeRow | undefined): FreezeState | undefined {
  if (row === undefined) return undefined;
  const { since, reason, restored, frozen_by: by } = row;
  return { since, reason, restored: restored === 1, damaged: false, by };
}

/**
 * Rejects a transaction that begins after another process has frozen the relay. The transactions of all
 * processes take turns, so a freeze is acknowledged only after those that began before it.
 */
function whileRunning<T>(
  { isShared }: Pick<Storage, "isShared">,
  work: (tx: Tx) => Promise<T>,
): (tx: Tx) => Promise<T> {
  if (!isShared) return work;
  return async (tx) => {
    const [frozen, value] = await Promise.all([findFreeze(tx), work(tx)]);
    if (frozen !== undefined) throw new StorageFrozen(frozen.reason);
    return value;
  };
}
