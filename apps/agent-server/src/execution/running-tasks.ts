import { uuidV7 } from "@agent/crypto";
import type { Caller } from "../caller.ts";
import type { Runtime } from "../runtime.ts";
import { MAX_ATTEMPTS, type Attempts } from "./attempts/attempts.ts";
import type { CheckDelegation } from "./delegation/delegation-scope.ts";
import { buildDeniedOutcome, buildFailedOutcome, type Outcome } from "./executor.ts";
import type { RunTask } from "./run-task.ts";
import type { SignedWork } from "./sign-work.ts";
import { WorkWithdrawn } from "./abort-reasons.ts";
import { WorkPostponed } from "./work-postponed.ts";
import type { WorkTask } from "./task.ts";
import type { NewWork } from "./work.ts";

/** The tasks in progress, each of which can be stopped. */
export interface RunningTasks {
  /**
   * Runs the work within its delegation scope; aborting `signal` cancels it. Rejects with
   * `WorkPostponed` while the scope cannot be checked, and with `WorkWithdrawn` after a withdrawal.
   */
  runWork(work: NewWork, caller: Caller, signal?: AbortSignal): Promise<SignedWork>;
  /** Cancels a running task for `reason`; returns false when no task of this id runs. */
  abort(taskId: string, reason?: Error): boolean;
  /** Gives running tasks `graceMs` to finish, then cancels them. Resolves when no task runs. */
  stop(graceMs: number): Promise<void>;
}

export function createRunningTasks(parts: {
  run: RunTask;
  checkDelegation: CheckDelegation;
  /** Counts the attempts at relay tasks; absent: they are not counted. */
  attempts?: Attempts | undefined;
  runtime: Runtime;
}): RunningTasks {
  const { run, checkDelegation, attempts, runtime } = parts;
  const stopping = new AbortController();
  const controllers = new Map<string, AbortController>();
  const unfinished = new Set<Promise<SignedWork>>();

  function giveUp(taskId: string): Outcome {
    runtime.log("error", "task.given_up", { correlationId: taskId, attempts: MAX_ATTEMPTS });
    return buildFailedOutcome(TOO_MANY_ATTEMPTS);
  }

  return {
    async runWork(work, caller, signal) {
      const task = buildTask(work, runtime);
      const { wallClockMs } = task;
      const dueAt = wallClockMs === undefined ? undefined : runtime.now() + wallClockMs;
      const taskController = new AbortController();
      const signals = [
        stopping.signal,
        taskController.signal,
        ...(signal === undefined ? [] : [signal]),
      ];
      const cancel = AbortSignal.any(signals);
      const running = checkDelegation(work.delegationToken, task).then((checked) => {
        // Its sender does not wait for the check, and gets the work back at once.
        if (cancel.reason instanceof WorkWithdrawn) throw cancel.reason;
        if (!checked.ok) throw new WorkPostponed("The delegation token cannot be checked now");
        const { refusal, ...rights } = checked.rights;
        const runTask = (outcome?: Outcome) => {
          // The check, and the wait for an attempt, have taken a part of the time.
          const left = dueAt === undefined ? {} : { wallClockMs: dueAt - runtime.now() };
          const options = { caller, cancel, ...(outcome !== undefined && { outcome }) };
          return run({ ...task, ...rights, ...left }, options);
        };
        if (refusal !== undefined) return runTask(buildDeniedOutcome(refusal));
        if (attempts === undefined || task.relayTaskId === undefined) return runTask();
        return attempts.run(task.taskId, cancel, (mayBegin) =>
          runTask(mayBegin ? undefined : giveUp(task.taskId)),
        );
      });
      controllers.set(task.taskId, taskController);
      unfinished.add(running);
      try {
        return { ...(await running), ...(dueAt !== undefined && { dueAt }) };
      } finally {
        controllers.delete(task.taskId);
        unfinished.delete(running);
      }
    },

    abort(taskId, reason) {
      const running = controllers.get(taskId);
      running?.abort(reason);
      return running !== undefined;
    },

    async stop(graceMs) {
      const cancel = runtime.schedule(graceMs, () => stopping.abort());
      await Promise.allSettled(unfinished);
      cancel();
    },
  };
}

const TOO_MANY_ATTEMPTS = `This agent was killed or crashed each of the ${MAX_ATTEMPTS} times that it worked on this task`;

/**
 * Builds a task from new work: it gets an id unless the relay gave one, and the present time as its
 * submission unless the work states another.
 */
export function buildTask(
  work: NewWork,
  { now, randomBytes }: Pick<Runtime, "now" | "randomBytes">,
): WorkTask {
  const { relayTaskId, submittedBy, estimatedCost, wallClockMs } = work;
  const at = now();
  return {
    taskId: relayTaskId ?? uuidV7(at, randomBytes(10)),
    ...(relayTaskId !== undefined && { relayTaskId }),
    prompt: work.prompt,
    requiredCapabilities: work.requiredCapabilities,
    submittedAt: work.submittedAt ?? at,
    ...(submittedBy !== undefined && { submittedBy }),
    ...(estimatedCost !== undefined && { estimatedCost }),
    ...(wallClockMs !== undefined && { wallClockMs }),
  };
}
