import { limits } from "@agent/wire";
import type { Runtime } from "../runtime.ts";

/** The client that reads a stream. */
export interface StreamReader {
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Called once, however the stream ends. */
  readonly ended: () => void;
}

/**
 * Forwards a stream and ends it when its reader is gone or reads nothing for 30 s, even if it never begins
 * to read, because returning from an iterator that has not started runs none of its code.
 */
export function cutStalledStream<T>(
  items: AsyncIterable<T>,
  { schedule }: Pick<Runtime, "schedule">,
  { signal, ended }: StreamReader,
): AsyncIterable<T> {
  const iterator = items[Symbol.asyncIterator]();
  let isEnded = false;
  let cancel = schedule(limits.streamStallMs, end);

  function end(): void {
    cancel();
    if (isEnded) return;
    isEnded = true;
    signal.removeEventListener("abort", end);
    ended();
    // A generator that waits at a `yield` ends there, and releases what it holds.
    void iterator.return?.();
  }

  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });

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
