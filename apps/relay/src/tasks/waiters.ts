/** Requests that are held open until their task changes (long poll). */
export interface TaskWaiters {
  /**
   * Watches a task: `changed` resolves at its next change, after `ms`, when the client disconnects,
   * or on `stop`.
   */
  watch(taskId: string, ms: number, signal: AbortSignal): Watch;
  /** Wakes the watchers of a task, also those at other processes. */
  notify(taskId: string): void;
  /** Wakes the watchers of a task that another process has changed. */
  wake(taskId: string): void;
  /**
   * Wakes the watchers of each task that have not seen its newest event; if a task is missing, all its
   * watchers are woken.
   */
  wakeBehind(newest: ReadonlyMap<string, number>): void;
  /** Lists the tasks of which a watcher has seen an event. */
  listWatched(): readonly string[];
  /** Ends all waiting, now and from now on, because the relay shuts down. */
  releaseAll(): void;
  /** Returns whether all waiting was ended. */
  isReleased(): boolean;
}

export interface Watch {
  readonly changed: Promise<void>;
  /** Notes the newest event that the watcher has read, so that a change elsewhere is noticed. */
  saw(eventId: number): void;
  stop(): void;
}

interface Waiter {
  readonly stop: () => void;
  /** Undefined until the watcher has read the task. */
  seen: number | undefined;
}

const isReader = ({ seen }: Waiter) => seen !== undefined;

export function createTaskWaiters(
  schedule: (ms: number, task: () => void) => () => void,
  notifyOthers: (taskId: string) => void = () => {},
): TaskWaiters {
  const waiting = new Map<string, Set<Waiter>>();
  let released = false;

  function watch(taskId: string, ms: number, signal: AbortSignal): Watch {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter: Waiter = { stop, seen: undefined };
    const own = waiting.get(taskId) ?? new Set();
    waiting.set(taskId, own);
    function stop(): void {
      cancel();
      signal.removeEventListener("abort", stop);
      own.delete(waiter);
      if (own.size === 0 && waiting.get(taskId) === own) waiting.delete(taskId);
      resolve();
    }
    const cancel = schedule(ms, stop);
    signal.addEventListener("abort", stop, { once: true });
    own.add(waiter);
    if (released || signal.aborted) stop();
    const saw = (eventId: number) => void (waiter.seen = eventId);
    return { changed: promise, saw, stop };
  }

  const wake = (taskId: string) => waiting.get(taskId)?.forEach(({ stop }) => stop());

  return {
    watch,
    wake,
    notify(taskId) {
      wake(taskId);
      notifyOthers(taskId);
    },
    wakeBehind(newest) {
      for (const [taskId, own] of waiting) {
        const eventId = newest.get(taskId);
        for (const { seen, stop } of own) {
          if (seen !== undefined && (eventId === undefined || seen < eventId)) stop();
        }
      }
    },
    listWatched: () =>
      [...waiting].filter(([, own]) => [...own].some(isReader)).map(([taskId]) => taskId),
    isReleased: () => released,
    releaseAll() {
      released = true;
      waiting.forEach((own) => own.forEach(({ stop }) => stop()));
    },
  };
}
