import type { TaskRow } from "../storage/tables/tasks.ts";

/** Routes tasks in the background, so that no request waits for an endpoint. */
export interface Router {
  /** Routes a task that was just stored. */
  readonly route: (task: TaskRow) => void;
  /** Tries the next executor, because one refused the task. */
  readonly reassignToNext: (taskId: string, executorId: string) => void;
  /**
   * Tries the next executor, because one stopped responding; without another it is sent the task
   * again.
   */
  readonly reassignStalled: (taskId: string) => void;
  /** Cancels the call of an endpoint for a task, if one is in flight. */
  readonly cancelCall: (taskId: string) => void;
  /** Routes tasks that wait for an agent and were not sent to any device that could do them. */
  readonly retryPendingFor: (agentId: string) => void;
  /**
   * Gives the tasks that wait for an agent that was just revoked to their next executors, or cancels them; those
   * that it submitted, or that a removed peer did, are cancelled.
   */
  readonly reassignAllOf: (agentId: string) => void;
  /** Gives a submitter's tasks that wait for an agent that it just blocked to their next executors, or cancels them. */
  readonly reassignBlocked: (submitterId: string, executorId: string) => void;
  /** Routes the waiting tasks of all agents; a later start resumes an interrupted run. */
  readonly retryAllPending: () => Promise<void>;
  /** Routes tasks again whose process may have ended before it routed them. */
  readonly rerouteWaiting: () => Promise<void>;
  /**
   * Sends devices of this process the tasks that another process stored before it knew of these devices,
   * and so neither sent nor announced.
   */
  readonly sendUnsent: () => Promise<void>;
  /** Sends a task to devices of this process, because another process has none. */
  readonly sendHere: (taskId: string) => void;
  /** Starts nothing from now on. */
  readonly stop: () => void;
  /** Aborts the work in flight, so that it can be started again, and resolves when it has ended. */
  readonly close: () => Promise<void>;
}
