import { awaitResult } from "@agent/client";
import type { DelegatorAnswer, DelegatorContext } from "./delegator-answer.ts";
import { describeOpenTask, describeResult, describeUnproven } from "./describe-result.ts";
import { findSubmittedTask } from "./find-submitted-task.ts";

/** The states that have a receipt. */
const PROVEN_STATES: ReadonlySet<string> = new Set(["completed", "failed", "denied"]);

/** Returns a task of this agent; a result is shown only after its receipt is verified. */
export async function getTaskStatus(
  context: DelegatorContext,
  taskId: string,
  signal: AbortSignal,
): Promise<DelegatorAnswer> {
  const found = await findSubmittedTask(context, taskId, signal);
  if (!found.ok) return found;
  const { agent_id: agentId, prompt, status, acceptance } = found.task;
  if (!PROVEN_STATES.has(status)) {
    const note =
      found.task.cancel_requested_at === undefined ? "" : "The executor was asked to stop.";
    return describeOpenTask(taskId, status, note);
  }
  const { client, runtime, timeoutMs } = context;
  const wanted = { agentId, taskId, prompt, timeoutMs, signal };
  const proven = await awaitResult(client, { ...runtime, ...wanted });
  return proven.ok
    ? describeResult(context, proven, { signal })
    : describeUnproven(proven, { taskId, isInspected: acceptance !== undefined });
}
