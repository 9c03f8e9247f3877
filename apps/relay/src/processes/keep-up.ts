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
  /** Tells the others that this process is alive; without an answer for long it stops serving. */
  renew(): Promise<void>;
  /** Whether requests may be served from what is in memory. */
  mayServe(): boolean;
  /** Lets another process lead while this one finishes its requests. */
  resign(): Promise<void>;
  /** Gives up what the others would otherwise wait for. */
  leave(): Promise<void>;
}

type KeepUpServices = Pick<
  Services,
  "processes" | "freezer" | "storage" | "waiters" | "tokens" | "connections" | "log"
>;

/** Returns the part of a process that is alone. */
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

export function createKeepUp(
  services: KeepUpServices,
  { tail, presences }: { readonly tail: ChangeTail; readonly presences: Presences },
): KeepUp {
  const { processes, freezer, tokens, connections, log } = services;
  let isServing = true;

  const mayServe = () => processes.isAlive() && !tail.isLost();

  /** Ends what relies on being alive, once each time that it is not. */
  function checkLife(): void {
    const wasServing = isServing;
    isServing = mayServe();
    if (isServing === wasServing) return;
    if (isServing) return log.info("processes.serves_again", { process_id: processes.id() });
    log.error("processes.stepped_down", { process_id: processes.id(), changes_age: tail.age() });
    tokens.evictAll();
    for (const connection of connections.all()) connection.close(1001, "relay lost its database");
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn("processes.not_up_to_date", { error: String(error) });
    }
    checkLife();
  }

  return {
    isShared: true,
    run: () =>
      attempt(async () => {
        await freezer.refresh();
        await presences.checkProcesses();
        await tail.look();
        processes.markUpToDate(tail.age());
        await wakeWatchers(services);
      }),
    renew: () => attempt(() => processes.renew()),
    mayServe,
    resign: () => attempt(() => processes.resign()),
    leave: () =>
      attempt(async () => {
        await presences.leave();
        await processes.leave();
      }),
  };
}
