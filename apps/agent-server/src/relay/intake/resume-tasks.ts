import type { RelayClient } from "@agent/client";
import type { Attempts } from "../../execution/attempts/attempts.ts";
import type { Runtime } from "../../runtime.ts";
import { findOwnTask } from "./find-own-task.ts";
import type { ListedTask } from "./task-receiver.ts";

/** Takes up the tasks that the last run of this agent began and did not end. */
export type ResumeTasks = (take: (task: ListedTask) => void) => Promise<void>;

/**
 * Creates the search for interrupted tasks. A relay offers a claimed task again only when its lease has
 * ended, but the lease belongs to this device, so the device can continue the task. Only tasks counted in
 * this data folder are requested, because another process with the same key may have begun the others.
 */
export function createResumeTasks(parts: {
  readonly agentId: string;
  readonly interrupted: Iterable<string>;
  readonly client: () => Pick<RelayClient, "getTask" | "listTasks"> | undefined;
  readonly attempts: Pick<Attempts, "end">;
  readonly runtime: Pick<Runtime, "log">;
}): ResumeTasks {
  const { agentId, client, attempts, runtime } = parts;
  const left = new Set(parts.interrupted);
  let isRunning = false;

  async function findAll(take: (task: ListedTask) => void): Promise<void> {
    for (const taskId of left) {
      const currentClient = client();
      const task = currentClient && (await findOwnTask(currentClient, { agentId, taskId }));
      // Without an answer it is asked for again on the next connection.
      if (task === undefined) continue;
      left.delete(taskId);
      if (task.status === "pending" || task.status === "claimed") {
        runtime.log("info", "task.resumed", { correlationId: taskId });
        take(task);
      } else {
        attempts.end(taskId);
      }
    }
  }

  return async (take) => {
    if (isRunning) return;
    isRunning = true;
    await findAll(take).finally(() => (isRunning = false));
  };
}
