/** The latest forwards to a peer, the newest last; true is a success. */
export type ForwardHistory = readonly boolean[];

const WINDOW = 10;
const LEAST_SAMPLES = 6;
const LEAST_FAILURES_IN_A_ROW = 3;

/** The history with one more forward; only the latest ten are kept. */
export function recordForward(history: ForwardHistory, succeeded: boolean): ForwardHistory {
  return [...history, succeeded].slice(-WINDOW);
}

/**
 * Whether the forward path is broken: more than half of at least 6 forwards failed, the last 3 among
 * them (specification, "Relay peer").
 */
export function isBroken(history: ForwardHistory): boolean {
  const failures = history.filter((succeeded) => !succeeded).length;
  return (
    history.length >= LEAST_SAMPLES &&
    failures * 2 > history.length &&
    !history.slice(-LEAST_FAILURES_IN_A_ROW).includes(true)
  );
}
