import type { TaskRow } from "../storage/tables/tasks.ts";

/** Brings tasks on their way in the background: nobody who asks for it waits for an endpoint. */
export interface Router {
  /** Of a task that was just stored. */
  readonly route: (task: TaskRow) => void;
  /** The executor will not do the task: the next one is tried. */
  readonly reassignToNext: (taskId: string, executorId: string) => void;
  /** The executor has gone silent: the next one is tried, else it is offered the task again. */
  readonly reassignStalled: (taskId: string) => void;
  /** Cancels the call of an endpoint for a task, if one is under way. */
  readonly cancelCall: (taskId: string) => void;
  /** Tries what waits for an agent, and was not told to any device that could do it. */
  readonly retryPendingFor: (agentId: string) => void;
  /** The same for everybody: a relay that stopped in between takes it up again. */
  readonly retryAllPending: () => Promise<void>;
  /** Begins nothing from now on. */
  readonly stop: () => void;
  /** Breaks off what is under way, so that it can be begun again, and resolves when it has ended. */
  readonly close: () => Promise<void>;
}
