import type { Membership } from "../../processes/membership.ts";
import type { Reader } from "../../storage/storage.ts";
import { countEntries } from "../entries/entry-store.ts";
import { findNewestHead } from "../store.ts";

/** The rounds in which a process signs heads, or follows the process that does. */
export interface LogRounds {
  /** Runs a round; callers during a round share it. */
  readonly run: () => Promise<void>;
  /**
   * Resolves once a head covers every entry that is committed now, or while none may be signed. If another
   * process must sign it and does not, this does not resolve, so the caller must limit its wait.
   */
  readonly waitForHead: () => Promise<void>;
}

interface RoundsDependencies {
  readonly read: Reader;
  readonly processes: Pick<Membership, "isLeader">;
  readonly maySign: () => boolean;
  readonly round: () => Promise<void>;
}

export function createLogRounds({
  read,
  processes,
  maySign,
  round,
}: RoundsDependencies): LogRounds {
  let running: Promise<void> | undefined;
  let end = Promise.withResolvers<void>();

  function run(): Promise<void> {
    running ??= round().finally(() => {
      running = undefined;
      end.resolve();
      end = Promise.withResolvers();
    });
    return running;
  }

  return {
    run,
    async waitForHead() {
      const size = await countEntries(read);
      while (maySign() && ((await findNewestHead(read))?.size ?? 0) < size) {
        // A round that runs already may have begun before the newest entries.
        await (processes.isLeader() ? run() : end.promise);
      }
    },
  };
}
