import type { RelayClient } from "@agent/client";
import type { Runtime } from "../../runtime.ts";
import { findOwnTask } from "./find-own-task.ts";

/** When the relay is asked, after the call was closed: a cancel may take a moment to be written down. */
const QUERY_DELAYS_MS = [500, 2_000, 10_000] as const;

export type IsWanted = (relayTaskId: string) => Promise<boolean>;

/**
 * Whether a relay still waits for a task whose call it closed: a relay that stops or is lost closes it as well,
 * and takes the receipt when it is back. Only its own word that the task is over says no.
 */
export function createIsWanted(parts: {
  agentId: string;
  client: () => Pick<RelayClient, "getTask" | "listTasks"> | undefined;
  runtime: Pick<Runtime, "schedule">;
}): IsWanted {
  const { agentId, client, runtime } = parts;
  return async (taskId) => {
    for (const ms of QUERY_DELAYS_MS) {
      await new Promise<void>((resolve) => void runtime.schedule(ms, resolve));
      const currentClient = client();
      const task = currentClient && (await findOwnTask(currentClient, { agentId, taskId }));
      if (task === undefined) continue;
      // The relays that can cancel a claimed task say since when its cancel is asked for.
      const isCancelRequested = typeof task.cancel_requested_at === "number";
      if (isCancelRequested || (task.status !== "pending" && task.status !== "claimed"))
        return false;
    }
    return true;
  };
}
