import { refuse, type Answer, type Operations } from "@agent/wire";
import { actsFor, type Caller } from "../identity/caller.ts";
import { decisionOf } from "../routing/decision.ts";
import type { Services } from "../services.ts";
import { findTask } from "./store.ts";
import { isGone } from "./view.ts";

interface Asked {
  readonly agentId: string;
  readonly taskId: string;
  readonly caller: Caller;
}

/** Shows what a task's routing was decided by; the candidates are as its submitter knows them. */
export async function showRouting(
  { storage, freezer }: Pick<Services, "storage" | "freezer">,
  { agentId, taskId, caller }: Asked,
): Promise<Answer<Operations["getRouting"]>> {
  const task = await findTask(storage.read, taskId);
  if (task?.agent_id !== agentId || isGone(task, freezer.taskTime()))
    return refuse("task.not_found");
  if (!actsFor(caller, [task.submitted_by])) return refuse("task.not_submitter");
  const record = await decisionOf(storage.read, taskId);
  return record === undefined ? refuse("routing.not_found") : { status: 200, body: record };
}
