import { setImmediate } from "node:timers/promises";

/** Resolves in the next turn of the event loop, so that other work can run first. */
export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}
