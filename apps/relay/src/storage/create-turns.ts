/** Runs each work after the one before it has ended, whether that succeeded or failed. */
export type RunInTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates a queue of works, of which one runs at a time. */
export function createTurns(): RunInTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
