/** The outcomes of the latest forwards to a peer, newest last; true means success. */
export type ForwardHistory = readonly boolean[];

const WINDOW_SIZE = 10;
const MIN_SAMPLES = 6;
const MIN_CONSECUTIVE_FAILURES = 3;

/** Adds an outcome to the history, which holds the latest ten. */
export function recordForwardOutcome(history: ForwardHistory, succeeded: boolean): ForwardHistory {
  return [...history, succeeded].slice(-WINDOW_SIZE);
}

/**
 * Returns whether the circuit is open: more than half of at least 6 forwards failed, including the
 * last 3 (specification, "Relay peer").
 */
export function isCircuitOpen(history: ForwardHistory): boolean {
  const failures = history.filter((succeeded) => !succeeded).length;
  return (
    history.length >= MIN_SAMPLES &&
    failures * 2 > history.length &&
    !history.slice(-MIN_CONSECUTIVE_FAILURES).includes(true)
  );
}
