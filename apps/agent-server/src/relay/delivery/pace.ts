import type { Runtime } from "../../runtime.ts";

/** Bounds how often something is done. */
export interface Pace {
  /** Returns whether it may be done now. */
  isFree(): boolean;
  /** Counts that it was done. */
  count(): void;
}

/** Creates a pace of at most `limit` times in any `windowMs`; a clock that jumps back starts anew. */
export function createPace(
  { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
  { now }: Pick<Runtime, "now">,
): Pace {
  let doneAt: number[] = [];
  return {
    isFree() {
      const time = now();
      doneAt = doneAt.filter((at) => at <= time && time - at < windowMs);
      return doneAt.length < limit;
    },
    count: () => void doneAt.push(now()),
  };
}
