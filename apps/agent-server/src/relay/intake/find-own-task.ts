import type { RelayClient } from "@agent/client";
import type { ListedTask, Received } from "@agent/wire";

/**
 * Finds a task that this agent executes, as its relay sees it. A task that was routed here from
 * another target has that target's path, which only the list of claimed tasks shows. Undefined: the
 * relay gave no answer.
 */
export async function findOwnTask(
  client: Pick<RelayClient, "getTask" | "listTasks">,
  { agentId, taskId }: { readonly agentId: string; readonly taskId: string },
): Promise<Received<typeof ListedTask> | undefined> {
  const params = { agentId };
  const answer = await client.getTask({ params: { agentId, taskId }, query: {} });
  if (answer.ok) return answer.body.task;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { status: "claimed" as const, ...(cursor !== undefined && { cursor }) };
    const listed = await client.listTasks({ params, query });
    if (!listed.ok) return undefined;
    const { tasks, next_cursor } = listed.body;
    const found = tasks.find(({ task_id }) => task_id === taskId);
    if (found !== undefined) return found;
    cursor = next_cursor;
  }
  return undefined;
}
