import type { Services } from "../services.ts";
import { wakeWatchers } from "../tasks/reading/wake-watchers.ts";
import type { Presences } from "./presences.ts";
import type { ChangeTail } from "./tail-changes.ts";

/** Keeps what this process has in memory up to date with the other processes. */
export interface KeepUp {
  /** False for a process that has the database to itself, which needs no rounds. */
  readonly isShared: boolean;
  /** Reads what the others have changed; a failure is logged, and the next round repeats it. */
  run(): Promise<void>;
  /**
   * Renews the row that shows other processes that this one is alive; it stops serving if this fails for
   * long.
   */
  renew(): Promise<void>;
  /** Whether requests may be served by what is in memory and by the clock of this machine. */
  mayServe(): boolean;
  /** Lets another process lead while this one finishes its requests. */
  resign(): Promise<void>;
  /** Releases what other processes would otherwise wait for. */
  leave(): Promise<void>;
}

type KeepUpServices = Pick<
  Services,
  "processes" | "freezer" | "storage" | "runtime" | "waiters" | "tokens" | "connections" | "log"
>;

/** Returns the parts of a process that has the database to itself, which do nothing. */
export function createNoKeepUp(): KeepUp {
  const nothing = () => Promise.resolve();
  return {
    isShared: false,
    run: nothing,
    renew: nothing,
    mayServe: () => true,
    resign: nothing,
    leave: nothing,
  };
}

/** Ends what was opened here, because it could go on at another process. */
function stepDown(
  { processes, tokens, connections, log }: KeepUpServices,
  tail: Pick<ChangeTail, "age">,
): void {
  log.error("processes.stepped_down", {
    process_id: processes.id(),
    changes_age: tail.age(),
    has_sound_clock: processes.hasSoundClock(),
  });
  tokens.evictAll();
  const reason = processes.hasSoundClock() ? "relay lost its database" : "relay's clock is wrong";
  for (const connection of connections.all()) connection.close(1001, reason);
}

/** Hints that arrive within this time lead to a single read. */
const HINT_DELAY_MS = 5;

export function createKeepUp(
  services: KeepUpServices,
  { tail, presences }: { readonly tail: ChangeTail; readonly presences: Presences },
): KeepUp {
  const { processes, freezer, log, runtime, waiters } = services;
  const { hints } = services.storage;
  let isServing = true;
  let hasLeft = false;
  let isLookPlanned = false;
  let wereHintsMissing = false;

  const mayServe = () => processes.isAlive() && processes.hasSoundClock() && !tail.isLost();

  /** Ends, once per loss, what depends on this process being alive. A process that leaves has already ended it. */
  function checkLife(): void {
    if (hasLeft) return;
    const wasServing = isServing;
    isServing = mayServe();
    if (isServing === wasServing) return;
    if (isServing) return log.info("processes.serves_again", { process_id: processes.id() });
    stepDown(services, tail);
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn("processes.not_up_to_date", { error: String(error) });
    }
    checkLife();
  }

  /** Without hints the reads every second find everything, a little later. */
  function keepHints(): void {
    const areHintsMissing = hints.isMissing();
    if (areHintsMissing && !wereHintsMissing) log.warn("processes.no_notifications", {});
    wereHintsMissing = areHintsMissing;
    hints.keepOpen(presences.hasOthers());
  }

  async function look(): Promise<void> {
    await tail.look();
    processes.markUpToDate(tail.age());
  }

  hints.listen({
    onTask: (taskId) => waiters.wake(taskId),
    onChanges() {
      if (isLookPlanned) return;
      isLookPlanned = true;
      runtime.schedule(HINT_DELAY_MS, () => {
        isLookPlanned = false;
        if (!hasLeft) void attempt(look);
      });
    },
  });

  return {
    isShared: true,
    run: () =>
      attempt(async () => {
        await freezer.refresh();
        await presences.checkProcesses();
        keepHints();
        await look();
        await wakeWatchers(services);
      }),
    renew: () => attempt(() => processes.renew()),
    mayServe,
    resign: () => attempt(() => processes.resign()),
    leave: () =>
      attempt(async () => {
        hasLeft = true;
        await presences.leave();
        await processes.leave();
      }),
  };
}
