import { deriveLogKeys, type LogKeys, type TreeEdge } from "@agent/transparency";
import { HOUR_MS, MINUTE_MS } from "../../clock/durations.ts";
import type { Freezer } from "../../admin/freeze.ts";
import type { Config } from "../../config/config.ts";
import type { Log } from "../../observability/log.ts";
import { LeadershipLost, type Membership } from "../../processes/membership.ts";
import type { Runtime } from "../../runtime.ts";
import type { Storage } from "../../storage/storage.ts";
import type { LogStateRow } from "../../storage/tables/log.ts";
import { enterKeys } from "../entries/enter-keys.ts";
import { mergeSegments } from "../segments/merge-segments.ts";
import { addHeadCosignatures } from "./add-cosignatures.ts";
import { integrateBatch, type IntegratedBatch } from "./integrate.ts";
import { loadEdge } from "./load-edge.ts";
import { createLogRounds, type LogRounds } from "./log-rounds.ts";
import type { HeadFile } from "./head-file.ts";
import { createSigningHold } from "./signing-hold.ts";
import { findLogState, findNewestHead, markKeysEntered, pruneHeads } from "../store.ts";

/** The relay's own transparency log. */
export interface RelayLog {
  /** Returns the keys of the generation that is in force. */
  readonly keys: () => LogKeys;
  /** False while AGENT_LOG is off. */
  readonly isOn: boolean;
  /**
   * Signs a head over every entry that was committed before the round began, unless nothing is new, the
   * relay is frozen or another process signs. Keys from before the log are entered first.
   */
  integrate(): Promise<void>;
  /** Waits until a head covers what is committed. */
  readonly waitForHead: LogRounds["waitForHead"];
  /** Adds verified lines of witnesses to a head; publishes it when it has enough of them. */
  addCosignatures(size: number, lines: readonly string[]): Promise<void>;
  /** Removes heads that are no longer needed. */
  prune(): Promise<void>;
  /** Signs no head from now on, because one was served that this database does not know or contradicts. */
  holdSigning(detail: string): void;
  /** Returns why no head is signed; undefined while heads are signed. */
  holdReason(): string | undefined;
  /** Returns how long the last integration took, in ms. */
  lastDuration(): number;
}

interface RelayLogDependencies {
  readonly storage: Storage;
  readonly freezer: Pick<Freezer, "frozen">;
  readonly config: Pick<Config, "log">;
  readonly runtime: Pick<Runtime, "now">;
  readonly elapsed: () => number;
  readonly log: Log;
  readonly served: HeadFile;
  /** One process signs the heads. */
  readonly processes: Pick<Membership, "isLeader" | "asLeader">;
  readonly opened: { readonly state: LogStateRow; readonly rootKey: Uint8Array };
}

const CHANGED_ENTRIES = "the stored entries do not have the root of the newest head";

/** Creates the log of an opened database. */
export function createRelayLog(dependencies: RelayLogDependencies): RelayLog {
  const { storage, freezer, config, runtime, elapsed, log, served, opened } = dependencies;
  const { processes } = dependencies;
  const derive = (row: LogStateRow) => deriveKeys(opened.rootKey, row);
  const { isOn, quorum } = config.log;
  let { state } = opened;
  let keys = derive(state);
  let edge: TreeEdge | undefined;
  const hold = createSigningHold(log, () => keys.origin);
  let lastDuration = 0;

  const asLeader = () => processes.asLeader(storage);
  const maySign = () => isOn && hold.reason() === undefined && freezer.frozen() === undefined;

  /** A restored database begins a new generation while the relay runs, when it is unfrozen. */
  async function followState(): Promise<void> {
    const stored = await findLogState(storage.read);
    if (stored === undefined) return;
    if (stored.generation !== state.generation) {
      keys = derive(stored);
      edge = undefined;
      // A head that was served under another origin does not matter to this generation.
      hold.end();
    }
    state = stored;
  }

  async function signHeads(): Promise<void> {
    const signing = asLeader();
    while (maySign()) {
      const newest = await findNewestHead(storage.read);
      const isLoaded = edge?.size === (newest?.size ?? 0);
      const current = isLoaded ? edge : await loadEdge(storage.read, newest);
      if (current === undefined) return hold.begin(CHANGED_ENTRIES);
      // If storing fails, this edge is ahead of the store and is loaded again.
      edge = undefined;
      const given = { storage: signing, edge: current, keys, quorum, now: runtime.now() };
      const batch = await integrateBatch(given);
      if (batch?.stored !== false) edge = current;
      if (batch === undefined) break;
      if (batch.stored) await completeHead(batch, served, signing);
      else await followState();
      // Entries committed in the meantime wait for the next round; otherwise each head would cover only a
      // few.
      if (batch.stored && !batch.isFull) break;
    }
  }

  async function integrateAll(): Promise<void> {
    const began = elapsed();
    await followState();
    if (state.keys_entered === 0) {
      const { generation } = state;
      await enterKeys(storage, runtime.now, signHeads);
      await storage.transaction((tx) => markKeysEntered(tx, generation));
    }
    await signHeads();
    lastDuration = elapsed() - began;
  }

  async function runRound(): Promise<void> {
    if (!isOn || freezer.frozen() !== undefined) return;
    await (processes.isLeader() ? integrateAll() : followState()).catch(ignoreLostLeadership);
  }

  const rounds = createLogRounds({ read: storage.read, processes, maySign, round: runRound });

  return {
    keys: () => keys,
    isOn,
    integrate: rounds.run,
    waitForHead: rounds.waitForHead,
    addCosignatures: (size, lines) => addHeadCosignatures(storage, { size, lines, quorum }),
    prune: () => asLeader().transaction((tx) => pruneHeads(tx, listPruneTimes(runtime.now()))),
    holdSigning: hold.begin,
    holdReason: hold.reason,
    lastDuration: () => lastDuration,
  };
}

/** Derives the keys of a generation; the first one has the number 0. */
function deriveKeys(rootKey: Uint8Array, { origin, generation }: LogStateRow): LogKeys {
  return deriveLogKeys(rootKey, { origin, ...(generation > 0 && { generation }) });
}

/** Merges of the index come last, because readers wait for the head. */
async function completeHead(batch: IntegratedBatch, served: HeadFile, signing: Storage) {
  await served.save(batch.note);
  await mergeSegments(signing, batch.entries);
}

/** The process that signs now continues where this one ended. */
function ignoreLostLeadership(error: unknown): void {
  if (!(error instanceof LeadershipLost)) throw error;
}

const listPruneTimes = (now: number) => ({
  from: now - 26 * HOUR_MS,
  uncosignedBefore: now - MINUTE_MS,
  cosignedBefore: now - 24 * HOUR_MS,
});
