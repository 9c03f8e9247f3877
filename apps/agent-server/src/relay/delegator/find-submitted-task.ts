import type { ListedTask, Received } from "@agent/wire";
import { findInPages } from "../find-in-pages.ts";
import {
  toDelegatorRefusal,
  type DelegatorAnswer,
  type DelegatorContext,
} from "./delegator-answer.ts";

type Refused = Extract<DelegatorAnswer, { ok: false }>;

/** Finds a task among those that this agent submitted. */
export async function findSubmittedTask(
  { client, ownId: agentId }: DelegatorContext,
  taskId: string,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly task: Received<typeof ListedTask> } | Refused> {
  const params = { agentId };
  const listed = await findInPages(
    (page) => client.listTasks({ params, query: { submitted_by: "me", ...page } }, { signal }),
    ({ tasks }) => tasks.find(({ task_id }) => task_id === taskId),
  );
  if (!listed.ok) return toDelegatorRefusal(listed, taskId);
  if (listed.found !== undefined) return { ok: true, task: listed.found };
  const message = "This agent submitted no such task";
  return { ok: false, code: "task.not_found", message };
}
