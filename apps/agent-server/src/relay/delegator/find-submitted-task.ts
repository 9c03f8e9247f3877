import type { ListedTask, Received } from "@agent/wire";
import {
  toDelegatorRefusal,
  type DelegatorAnswer,
  type DelegatorContext,
} from "./delegator-answer.ts";

type Refused = Extract<DelegatorAnswer, { ok: false }>;

const PAGE_SIZE = "100";
const MAX_PAGES = 20;

/** Finds a task among those that this agent submitted, the newest 2,000 of them. */
export async function findSubmittedTask(
  { client, ownId: agentId }: DelegatorContext,
  taskId: string,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly task: Received<typeof ListedTask> } | Refused> {
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = {
      submitted_by: "me",
      limit: PAGE_SIZE,
      ...(cursor !== undefined && { cursor }),
    } as const;
    const listed = await client.listTasks({ params: { agentId }, query }, { signal });
    if (!listed.ok) return toDelegatorRefusal(listed, taskId);
    const task = listed.body.tasks.find((one) => one.task_id === taskId);
    if (task !== undefined) return { ok: true, task };
    cursor = listed.body.next_cursor ?? undefined;
    if (cursor === undefined) break;
  }
  const message = "This agent submitted no such task";
  return { ok: false, code: "task.not_found", message };
}
