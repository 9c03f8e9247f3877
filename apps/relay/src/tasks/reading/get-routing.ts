import { refuse, type Answer, type Operations } from "@agent/wire";
import { mayActFor, type Caller } from "../../identity/caller.ts";
import { findDecisionText } from "../../routing/decision.ts";
import type { Services } from "../../services.ts";
import { findAddressedTask } from "../find-addressed-task.ts";

interface RoutingQuery {
  readonly agentId: string;
  readonly taskId: string;
  readonly caller: Caller;
}

/** Returns the record of a task's routing; its candidates are those visible to the submitter. */
export async function getRouting(
  { storage, freezer }: Pick<Services, "storage" | "freezer">,
  { agentId, taskId, caller }: RoutingQuery,
): Promise<Answer<Operations["getRouting"]>> {
  const task = await findAddressedTask(storage.read, { agentId, taskId }, freezer.taskTime());
  if (task === undefined) return refuse("task.not_found");
  if (!mayActFor(caller, [task.submitted_by])) return refuse("task.not_submitter");
  const record = await findDecisionText(storage.read, taskId);
  return record === undefined ? refuse("routing.not_found") : { status: 200, body: record };
}
