import type { RelayClient } from "@agent/client";

/** The states in which the relay accepts no receipt; states of later versions are not among them. */
const ENDED_STATES: ReadonlySet<string> = new Set([
  "completed",
  "failed",
  "denied",
  "cancelled",
  "expired",
]);

/**
 * Returns whether the relay states that a task has ended or is no longer stored, so that no receipt of it
 * can be paid. The relay must be asked, because the end that a task stated can move: a relay that was
 * frozen extends it.
 */
export async function hasTaskEnded(
  client: Pick<RelayClient, "getTask">,
  task: { readonly agentId: string; readonly targetAgentId?: string | undefined; taskId: string },
): Promise<boolean> {
  const { agentId, targetAgentId, taskId } = task;
  const params = { agentId: targetAgentId ?? agentId, taskId };
  const answer = await client.getTask({ params, query: {} });
  if (answer.ok) return ENDED_STATES.has(answer.body.task.status);
  // Only the path of its target shows that a task is not there.
  return answer.code === "task.not_found" && targetAgentId !== undefined;
}
