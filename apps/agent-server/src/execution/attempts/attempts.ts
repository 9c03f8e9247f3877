import type { Runtime } from "../../runtime.ts";
import { openAttemptsFile, type AttemptsFileOptions } from "./attempts-file.ts";
import { createTurns } from "./turns.ts";

/** The attempts at relay tasks, counted on disk so that a task cannot crash its agent again and again. */
export interface Attempts {
  /**
   * Runs `work` as an attempt at a task; the attempt is counted on disk before. `mayBegin` is false when the task was
   * begun too often. Of the tasks that get their last attempt only one runs at a time, and aborting `cancel` ends the
   * wait. Work that rejects gets no receipt, so that its count ends.
   */
  run<T>(taskId: string, cancel: AbortSignal, work: (mayBegin: boolean) => Promise<T>): Promise<T>;
  /** Ends the count of a task whose receipt is safe. */
  end(taskId: string): void;
}

export interface OpenAttempts extends Attempts {
  /** Lists the tasks that were begun and not ended; after the start, those of the last run. */
  listOpen(): readonly string[];
  /** Writes which counts have ended. */
  close(): Promise<void>;
}

/**
 * After the first crash every task that ran is tried again, because any of them, or none, may have caused it. After
 * the second it is still unknown which one, so each gets its last attempt alone among them: a third crash is then most
 * likely its own, and costs the others nothing.
 */
export const MAX_ATTEMPTS = 3;

/** Opens the counts of the last run. Without a disk that keeps them an attempt begins all the same. */
export async function openAttempts(
  options: AttemptsFileOptions,
  runtime: Pick<Runtime, "now" | "log">,
): Promise<OpenAttempts> {
  const { counts, write } = await openAttemptsFile(options, runtime);
  const turns = createTurns();
  let isChanged = false;

  async function count(taskId: string, attempts: number): Promise<void> {
    counts.set(taskId, { attempts, begunAt: runtime.now() });
    isChanged = false;
    await write();
  }

  // The next attempt or the end of the process writes this too: a count that is left after a crash ends when the relay
  // says that its task is over.
  function end(taskId: string): void {
    if (counts.delete(taskId)) isChanged = true;
  }

  return {
    async run(taskId, cancel, work) {
      const attempts = (counts.get(taskId)?.attempts ?? 0) + 1;
      if (attempts > MAX_ATTEMPTS) return work(false);
      const endTurn = attempts === MAX_ATTEMPTS ? await turns.take(cancel) : () => {};
      try {
        await count(taskId, attempts);
        return await work(true);
      } catch (cause) {
        end(taskId);
        throw cause;
      } finally {
        endTurn();
      }
    },
    end,
    listOpen: () => [...counts.keys()],
    async close() {
      if (isChanged) await write();
    },
  };
}
