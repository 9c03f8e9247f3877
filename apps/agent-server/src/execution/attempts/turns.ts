/** Lets callers proceed one at a time. */
export interface Turns {
  /** Resolves when those before have ended their turn, or `cancel` is aborted; the result ends this turn. */
  take(cancel: AbortSignal): Promise<() => void>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async take(cancel) {
      const before = last;
      const own = Promise.withResolvers<void>();
      last = before.then(() => own.promise);
      const cancelled = Promise.withResolvers<void>();
      const onAbort = () => cancelled.resolve();
      cancel.addEventListener("abort", onAbort, { once: true });
      if (!cancel.aborted) await Promise.race([before, cancelled.promise]);
      cancel.removeEventListener("abort", onAbort);
      return own.resolve;
    },
  };
}
