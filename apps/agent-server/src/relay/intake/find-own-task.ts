import type { RelayClient } from "@agent/client";
import type { ListedTask, Received } from "@agent/wire";
import { findInPages } from "../find-in-pages.ts";

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
  const listed = await findInPages(
    (page) => client.listTasks({ params, query: { status: "claimed", ...page } }),
    ({ tasks }) => tasks.find(({ task_id }) => task_id === taskId),
  );
  return listed.ok ? listed.found : undefined;
}
