import type { RelayClient } from "@agent/client";
import { sleep, type Runtime } from "../../runtime.ts";
import { findOwnTask } from "./find-own-task.ts";

/** The pauses before each query, because the relay may record a cancel with a delay. */
const QUERY_DELAYS_MS = [500, 2_000, 10_000] as const;

export type IsWanted = (relayTaskId: string) => Promise<boolean>;

/**
 * Creates the check whether the relay still needs a task whose call it closed. A relay that stops
 * or loses its connection closes the call as well and accepts the receipt later. Only its explicit
 * statement that the task is over returns false.
 */
export function createIsWanted(parts: {
  agentId: string;
  client: () => Pick<RelayClient, "getTask" | "listTasks"> | undefined;
  runtime: Pick<Runtime, "schedule">;
}): IsWanted {
  const { agentId, client, runtime } = parts;
  return async (taskId) => {
    for (const ms of QUERY_DELAYS_MS) {
      await sleep(runtime, ms);
      const currentClient = client();
      const task = currentClient && (await findOwnTask(currentClient, { agentId, taskId }));
      if (task === undefined) continue;
      // Relays that support the cancel of a claimed task state the time of the request.
      const isCancelRequested = typeof task.cancel_requested_at === "number";
      if (isCancelRequested || (task.status !== "pending" && task.status !== "claimed"))
        return false;
    }
    return true;
  };
}
