import { yieldToEventLoop } from "./yield-to-event-loop.ts";

/** Runs the steps of a computation with a pause after each, in which other work can run. */
export async function runWithPauses<T>(steps: Generator<void, T, void>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await yieldToEventLoop();
  }
}
