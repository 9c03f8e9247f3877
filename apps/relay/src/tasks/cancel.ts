import { refuse, type Answer, type Operations } from "@agent/wire";
import { releaseHold } from "../budget/hold.ts";
import type { KeepAnswer } from "../http/idempotency.ts";
import { actsFor, type Caller } from "../identity/caller.ts";
import { abandonTask } from "../federation/abandon-task.ts";
import type { Services } from "../services.ts";
import { leavePlace } from "./counters.ts";
import { returnToDelegation } from "./delegation-budget.ts";
import { cancelPending, findTask } from "./store.ts";
import { executorOf, isGone } from "./view.ts";

interface Cancellation {
  readonly agentId: string;
  readonly taskId: string;
  readonly caller: Caller;
  readonly keep?: KeepAnswer | undefined;
}

/** Cancels a task that nobody has claimed and returns its hold; only its submitter may. */
export async function cancel(
  services: Pick<Services, "storage" | "runtime" | "waiters" | "connections">,
  { agentId, taskId, caller, keep }: Cancellation,
): Promise<Answer<Operations["cancelTask"]>> {
  const { storage, runtime, waiters, connections } = services;
  const task = await findTask(storage.read, taskId);
  if (task === undefined || task.agent_id !== agentId || isGone(task, runtime.now())) {
    return refuse("task.not_found");
  }
  if (!actsFor(caller, [task.submitted_by])) return refuse("task.not_submitter");
  const answer = { status: 200 as const, body: { task_id: taskId, status: "cancelled" as const } };
  const cancelled = await storage.transaction(async (tx) => {
    const row = await cancelPending(tx, taskId, runtime.now());
    if (row === undefined) return refuse("task.not_pending");
    await releaseHold(tx, runtime, row, "cancelled");
    await returnToDelegation(tx, row);
    await abandonTask(tx, runtime, row);
    await leavePlace(tx, row.submitted_by);
    await keep?.(tx, answer);
    return { ok: true as const, executor: executorOf(row) };
  });
  if (!cancelled.ok) return cancelled;
  waiters.changed(taskId);
  for (const connection of connections.of(cancelled.executor)) {
    connection.send({ type: "task_cancelled", task_id: taskId });
  }
  return answer;
}
