const SAMPLE_MS = 60_000;
/** Samples further apart than this leave a gap; one of them may fail. */
export const MAX_GAP_MS = 2.5 * SAMPLE_MS;
/** A span that ended longer ago than this is over; one sample may miss an agent that connects again. */
export const MAX_MISS_MS = 1.5 * SAMPLE_MS;

/** One sample of the agents that are online; times in ms. */
export interface OnlineSample {
  readonly now: number;
  /** The time of the previous sample, never after `now`; undefined if there was none. */
  readonly before: number | undefined;
}

/** The newest span of an agent: the time of its end, or null while it is open. */
export interface NewestSpan {
  readonly until: number | null;
}

/** A change of an agent's spans; they are made in the order in which they are listed. */
export type SpanChange = "end" | "resume" | "begin";

/** Returns whether a sample follows one before it without a gap. */
export function isSeamless(before: number | undefined, now: number): boolean {
  return before !== undefined && now - before <= MAX_GAP_MS;
}

/**
 * Returns the time at which a sample ends a span: that of the first sample that did not find the agent, but
 * not after a gap in which the relay took no samples.
 */
export function getSpanEnd({ now, before = now }: OnlineSample): number {
  return isSeamless(before, now) ? now : before;
}

/**
 * Decides how a sample changes the spans of an agent. An open span continues as long as each sample finds
 * the agent, without a write. So does a span that ended so recently that a single sample may have missed
 * the agent.
 */
export function decideSpan(
  newest: NewestSpan | undefined,
  isOnline: boolean,
  sample: OnlineSample,
): readonly SpanChange[] {
  const { now, before } = sample;
  if (newest?.until === null) {
    if (!isSeamless(before, now)) return isOnline ? ["end", "begin"] : ["end"];
    return isOnline ? [] : ["end"];
  }
  if (!isOnline) return [];
  const isMissedOnce = newest !== undefined && now - newest.until <= MAX_MISS_MS;
  return isMissedOnce ? ["resume"] : ["begin"];
}
