/** Requests that are held open until their task changes (long poll). */
export interface TaskWaiters {
  /**
   * Watches a task: `changed` resolves at its next change, after `ms`, when the client disconnects,
   * or on `stop`.
   */
  watch(taskId: string, ms: number, signal: AbortSignal): Watch;
  notify(taskId: string): void;
  /** Ends all waiting, now and from now on, because the relay shuts down. */
  releaseAll(): void;
  /** Returns whether all waiting was ended. */
  isReleased(): boolean;
}

export interface Watch {
  readonly changed: Promise<void>;
  stop(): void;
}

export function createTaskWaiters(
  schedule: (ms: number, task: () => void) => () => void,
): TaskWaiters {
  const waiting = new Map<string, Set<() => void>>();
  let released = false;

  function watch(taskId: string, ms: number, signal: AbortSignal): Watch {
    const { promise, resolve } = Promise.withResolvers<void>();
    const own = waiting.get(taskId) ?? new Set();
    waiting.set(taskId, own);
    const stop = () => {
      cancel();
      signal.removeEventListener("abort", stop);
      own.delete(stop);
      if (own.size === 0 && waiting.get(taskId) === own) waiting.delete(taskId);
      resolve();
    };
    const cancel = schedule(ms, stop);
    signal.addEventListener("abort", stop, { once: true });
    own.add(stop);
    if (released || signal.aborted) stop();
    return { changed: promise, stop };
  }

  return {
    watch,
    notify: (taskId) => waiting.get(taskId)?.forEach((stop) => stop()),
    isReleased: () => released,
    releaseAll() {
      released = true;
      waiting.forEach((own) => own.forEach((stop) => stop()));
    },
  };
}
