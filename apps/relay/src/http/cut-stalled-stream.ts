import { limits } from "@agent/wire";
import type { Runtime } from "../runtime.ts";

/**
 * Passes a stream on and ends it when its reader takes nothing for 30 s, also if it never begins to
 * read. `ended` is called once, however the stream ends.
 */
export function cutStalledStream<T>(
  items: AsyncIterable<T>,
  { schedule }: Pick<Runtime, "schedule">,
  ended: () => void,
): AsyncIterable<T> {
  const iterator = items[Symbol.asyncIterator]();
  let isEnded = false;
  let cancel = schedule(limits.streamStallMs, end);

  function end(): void {
    cancel();
    if (isEnded) return;
    isEnded = true;
    ended();
    // A generator that waits at a `yield` ends there, and lets go of what it holds.
    void iterator.return?.();
  }

  const reading: AsyncIterator<T> = {
    async next() {
      cancel();
      if (isEnded) return { done: true, value: undefined };
      try {
        const step = await iterator.next();
        if (step.done === true) end();
        else if (!isEnded) cancel = schedule(limits.streamStallMs, end);
        return step;
      } catch (error) {
        end();
        throw error;
      }
    },
    async return() {
      end();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => reading };
}
