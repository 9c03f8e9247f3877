/** A time that the database stated, and the monotonic ms of this process before and after it was asked. */
export interface DatabaseReading {
  readonly time: number;
  readonly askedAt: number;
  readonly answeredAt: number;
}

/**
 * Returns by how many ms a clock that shows `now` certainly differs from that of the database, `elapsed`
 * monotonic ms into this process: the database read its clock at some point between question and answer.
 */
export function measureSkew(
  { time, askedAt, answeredAt }: DatabaseReading,
  { now, elapsed }: { readonly now: number; readonly elapsed: number },
): number {
  const earliest = time + elapsed - answeredAt;
  const latest = time + elapsed - askedAt;
  return Math.max(0, earliest - now, now - latest);
}
