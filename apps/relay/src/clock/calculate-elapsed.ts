/** Returns the time between two readings of the clock in ms; 0 if the clock was set back in the meantime. */
export function calculateElapsed(since: number, until: number): number {
  return Math.max(0, until - since);
}
