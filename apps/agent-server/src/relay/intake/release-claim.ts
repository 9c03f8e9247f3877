import type { RelayClient } from "@agent/client";
import { sleep, type Runtime } from "../../runtime.ts";
import { isFinalRefusal } from "../is-final-refusal.ts";
import { findOwnTask } from "./find-own-task.ts";

/** The pauses before each attempt to reach the relay. */
const RETRY_DELAYS_MS = [0, 1_000, 5_000] as const;

export type ReleaseClaim = (relayTaskId: string) => Promise<void>;

/**
 * Confirms over HTTP the cancellation of a task that the relay had sent by calling the endpoint. A closed
 * call has no other way to confirm it, and without confirmation the cancellation takes effect only when the
 * lease expires.
 */
export function createReleaseClaim(parts: {
  agentId: string;
  client: () => Pick<RelayClient, "getTask" | "listTasks" | "releaseClaim"> | undefined;
  runtime: Pick<Runtime, "schedule" | "log">;
}): ReleaseClaim {
  const { agentId, client, runtime } = parts;
  return async (taskId) => {
    for (const ms of RETRY_DELAYS_MS) {
      if (ms > 0) await sleep(runtime, ms);
      const currentClient = client();
      const task = currentClient && (await findOwnTask(currentClient, { agentId, taskId }));
      if (currentClient === undefined || task === undefined) continue;
      const answer = await currentClient.releaseClaim({
        params: { agentId: task.agent_id, taskId },
      });
      if (answer.ok) return;
      runtime.log("debug", "task.not_released", { correlationId: taskId, code: answer.code });
      if (isFinalRefusal(answer)) return;
    }
  };
}
