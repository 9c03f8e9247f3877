import type { Runtime } from "../../runtime.ts";
import { createClaims } from "./claims.ts";
import type { ListedTask } from "./task-receiver.ts";
import { createLeases } from "./leases.ts";
import type { SendMessage } from "../delivery/paced-send.ts";

const MAX_RUNNING = 8;

/** The relay's tasks between their arrival and their end: queued, claimed or running. */
export interface TaskQueue {
  /** Adds a task for this agent; a known task is not added again. */
  take(task: ListedTask): void;
  /** Runs the task whose claim the relay granted. */
  claimed(taskId: string): void;
  /** Ends the claim that the relay refused. */
  refused(taskId: string): void;
  /** Drops a task that does not run yet. */
  drop(taskId: string): void;
  /** Claims queued tasks while fewer than eight are claimed or running. */
  startNext(): void;
  /** Reports the running tasks to the relay. */
  renewLeases(): void;
  stop(): void;
  readonly stopped: boolean;
}

export function createTaskQueue(parts: {
  agentId: string;
  /** Runs a task to its end; never rejects. */
  run: (task: ListedTask) => Promise<void>;
  send: SendMessage;
  runtime: Pick<Runtime, "schedule">;
}): TaskQueue {
  const { agentId, send, runtime } = parts;
  const queued = new Map<string, ListedTask>();
  const claims = createClaims({ send, onExpired: handleExpiredClaim, runtime });
  const running = createLeases(send, runtime);
  let stopped = false;

  function startNext(): void {
    for (const [id, task] of queued) {
      if (stopped || claims.size + running.size >= MAX_RUNNING) return;
      queued.delete(id);
      // Without a socket the relay cannot be asked, and cannot have offered a pending task to another
      // device. A claimed task may have been claimed by another device in the meantime.
      if (!claims.send(task) && task.status !== "claimed") void run(task);
    }
  }

  function handleExpiredClaim(unsent: ListedTask | undefined): void {
    if (unsent !== undefined) queued.set(unsent.task_id, unsent);
    startNext();
  }

  async function run(task: ListedTask): Promise<void> {
    running.add(task.task_id);
    await parts.run(task);
    running.delete(task.task_id);
    startNext();
  }

  return {
    take(task) {
      const { task_id: id, assigned_to: assignee } = task;
      if (stopped || (assignee !== null && assignee !== agentId)) return;
      if (queued.has(id) || claims.has(id)) return;
      if (running.has(id)) {
        // A task that is offered again after a lost connection needs a new lease; its work
        // continues.
        send({ type: "claim", task_id: id });
        return;
      }
      queued.set(id, task);
      startNext();
    },
    claimed(taskId) {
      const task = claims.end(taskId);
      // A claim may be granted twice, or late, when its task has begun without a socket.
      if (task !== undefined && !running.has(taskId)) void run(task);
    },
    refused: (taskId) => void claims.end(taskId),
    drop(taskId) {
      queued.delete(taskId);
      claims.end(taskId);
    },
    startNext,
    renewLeases: () => running.renew(),
    stop() {
      stopped = true;
      running.stop();
      queued.clear();
      claims.stop();
    },
    get stopped() {
      return stopped;
    },
  };
}
