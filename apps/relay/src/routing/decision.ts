import { uuidV7 } from "@agent/crypto";
import type { RoutingRecord } from "@agent/routing-semiring";
import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import { actsFor, type Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import { findTask } from "../tasks/store.ts";
import { isGone } from "../tasks/view.ts";
import { findDecision, forgetDecisions, insertDecision } from "./decision-store.ts";

/** The text of a decision that is kept; of one among very many candidates only the choice is. */
export function decisionText(record: RoutingRecord | undefined): string | undefined {
  return record === undefined || record.candidates.length > limits.recordedCandidates
    ? undefined
    : JSON.stringify(record);
}

export async function keepDecision(tx: Tx, task_id: string, record: string): Promise<void> {
  await insertDecision(tx, { task_id, record });
}

interface Asked {
  readonly agentId: string;
  readonly taskId: string;
  readonly caller: Caller;
}

/** Shows what a task's routing was decided by; the candidates are as its submitter knows them. */
export async function getRouting(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  { agentId, taskId, caller }: Asked,
): Promise<Answer<Operations["getRouting"]>> {
  const task = await findTask(storage.read, taskId);
  if (task?.agent_id !== agentId || isGone(task, runtime.now())) return refuse("task.not_found");
  if (!actsFor(caller, [task.submitted_by])) return refuse("task.not_submitter");
  const decision = await findDecision(storage.read, taskId);
  return decision === undefined
    ? refuse("routing.not_found")
    : { status: 200, body: decision.record };
}

const batch = 1_000;
const HOUR = 3_600_000;

/** Forgets decisions whose tasks are gone; what is being submitted is not yet old enough. */
export async function forgetOldDecisions({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  const old = { before: uuidV7(runtime.now() - HOUR, new Uint8Array(10)), limit: batch };
  while ((await storage.transaction((tx) => forgetDecisions(tx, old))) === batch);
}
