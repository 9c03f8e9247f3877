import {
  toDelegatorRefusal,
  type DelegatorAnswer,
  type DelegatorContext,
} from "./delegator-answer.ts";
import { findSubmittedTask } from "./find-submitted-task.ts";

/**
 * Cancels a pending task, or asks the executor of a claimed one to stop. The answer's status is
 * `cancelled` or `claimed`.
 */
export async function cancelTask(
  context: DelegatorContext,
  taskId: string,
  signal: AbortSignal,
): Promise<DelegatorAnswer> {
  const found = await findSubmittedTask(context, taskId, signal);
  if (!found.ok) return found;
  const { agent_id: agentId } = found.task;
  const cancelled = await context.client.cancelTask({ params: { agentId, taskId } }, { signal });
  if (!cancelled.ok) return toDelegatorRefusal(cancelled, taskId);
  const { status } = cancelled.body;
  const note =
    status === "cancelled"
      ? "The task is cancelled and nothing is charged."
      : "An executor has begun the task and was asked to stop; task_status shows whether it agreed.";
  return { ok: true, answer: { task_id: taskId, status, note } };
}
