import type { RelayClient } from "@agent/client";
import type { Runtime } from "../runtime.ts";

/** When the relay is asked, after the call was closed: a cancel may take a moment to be written down. */
const ASKED_AFTER_MS = [500, 2_000, 10_000] as const;

export type IsWanted = (relayTaskId: string) => Promise<boolean>;

/**
 * Whether a relay still waits for a task whose call it closed: a relay that stops or is lost closes it as well,
 * and takes the receipt when it is back. Only its own word that the task is over says no.
 */
export function createIsWanted(parts: {
  agentId: string;
  client: () => Pick<RelayClient, "getTask"> | undefined;
  runtime: Pick<Runtime, "schedule">;
}): IsWanted {
  const { agentId, client, runtime } = parts;
  return async (taskId) => {
    for (const ms of ASKED_AFTER_MS) {
      await new Promise<void>((resolve) => void runtime.schedule(ms, resolve));
      const answer = await client()?.getTask({ params: { agentId, taskId }, query: {} });
      if (answer?.ok !== true) continue;
      const { task } = answer.body;
      // The relays that can cancel a claimed task say since when its cancel is asked for.
      const isAskedBack = typeof Reflect.get(task, "cancel_requested_at") === "number";
      if (isAskedBack || (task.status !== "pending" && task.status !== "claimed")) return false;
    }
    return true;
  };
}
