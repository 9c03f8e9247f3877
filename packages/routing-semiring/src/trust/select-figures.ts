/** Sums over some of the tasks that ended for an executor. */
export interface TaskFigures {
  readonly successes: number;
  /** Successes and failures. */
  readonly counted: number;
  /** The sum over all successes, in ms. */
  readonly latencyMs: number;
}

/**
 * Selects the tasks by which an executor is described to strangers: those that count for them
 * (`countsForStrangers`) as soon as there is one, whatever its outcome, otherwise the free ones. Free tasks
 * cost nothing, so together with paid ones they would hide any number of failures.
 */
export function selectFigures({
  paid,
  free,
}: {
  readonly paid: TaskFigures;
  readonly free: TaskFigures;
}): TaskFigures {
  return paid.counted > 0 ? paid : free;
}
