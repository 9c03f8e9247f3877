/** The latest forwards to a peer, the newest last; true is a success. */
export type ForwardHistory = readonly boolean[];

const WINDOW_SIZE = 10;
const MIN_SAMPLES = 6;
const MIN_CONSECUTIVE_FAILURES = 3;

/** The history with one more forward; only the latest ten are kept. */
export function recordForwardOutcome(history: ForwardHistory, succeeded: boolean): ForwardHistory {
  return [...history, succeeded].slice(-WINDOW_SIZE);
}

/**
 * Whether the forward path is broken: more than half of at least 6 forwards failed, the last 3 among
 * them (specification, "Relay peer").
 */
export function isCircuitOpen(history: ForwardHistory): boolean {
  const failures = history.filter((succeeded) => !succeeded).length;
  return (
    history.length >= MIN_SAMPLES &&
    failures * 2 > history.length &&
    !history.slice(-MIN_CONSECUTIVE_FAILURES).includes(true)
  );
}
