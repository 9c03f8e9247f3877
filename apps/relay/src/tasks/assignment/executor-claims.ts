import { refuse, type Answer, type Operations, type Refusal } from "@agent/wire";
import { mayActFor, type Caller } from "../../identity/caller.ts";
import type { Services } from "../../services.ts";
import type { StoredTaskRow } from "../../storage/tables/tasks.ts";
import type { Lease } from "./claim-store.ts";
import { claimTask, type Claimant } from "./claim-task.ts";
import { endClaim } from "./end-claim.ts";
import { reportProgress } from "./report-progress.ts";
import { findAddressedTask } from "../find-addressed-task.ts";
import { executorOf, isForwarded, isClaimedByEndpoint } from "../task.ts";

/** A call about the claim of one task, over HTTP. */
interface ClaimCall {
  /** The path's agent: the task's target. */
  readonly agentId: string;
  readonly taskId: string;
  readonly caller: Caller;
}

/** Claims a task for the caller's device, or renews that device's claim. */
export async function claimAsExecutor(
  services: Pick<Services, "storage" | "runtime" | "waiters">,
  call: ClaimCall,
): Promise<Answer<Operations["claimTask"]>> {
  const found = await findForExecutor(services, call);
  if (!found.ok) return found;
  const claimed = await claimTask(services, found.claimant, call.taskId);
  return claimed.ok ? { status: 200, body: toLeaseBody(claimed) } : claimed;
}

/** Reports progress of the caller's device on its claim. */
export async function reportProgressAsExecutor(
  services: Pick<Services, "storage" | "runtime" | "waiters">,
  { note, ...call }: ClaimCall & { readonly note: string | undefined },
): Promise<Answer<Operations["reportProgress"]>> {
  const found = await findForExecutor(services, call);
  if (!found.ok) return found;
  const renewed = await reportProgress(services, found.claimant, { task_id: call.taskId, note });
  return renewed.ok ? { status: 200, body: toLeaseBody(renewed) } : renewed;
}

/**
 * Releases the claim of the caller's device. While the executor's endpoint is called no device has
 * the task, so any device of the executor may agree to a cancel then.
 */
export async function releaseAsExecutor(
  services: Pick<Services, "storage" | "runtime" | "waiters" | "connections" | "log" | "router">,
  call: ClaimCall,
): Promise<Answer<Operations["releaseClaim"]>> {
  const found = await findForExecutor(services, call);
  if (!found.ok) return found;
  const { task, claimant } = found;
  const { task_id } = task;
  const agrees = isClaimedByEndpoint(task) && task.cancel_requested_at !== null;
  const claimed_by = (agrees ? task.claimed_by : null) ?? claimant.claimed_by;
  const status = await endClaim(services, { task_id, claimed_by });
  if (status === undefined) return refuse("task.not_claimed");
  if (status === "pending") services.router.reassignToNext(task_id, claimant.executor);
  return { status: 200, body: { task_id, status } };
}

type ExecutorLookup =
  | { readonly ok: true; readonly task: StoredTaskRow; readonly claimant: Claimant }
  | Refusal<"task.not_found" | "task.not_participant">;

/** Finds the task if the caller is its executor; a forwarded task has no executor here. */
async function findForExecutor(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  { agentId, taskId, caller }: ClaimCall,
): Promise<ExecutorLookup> {
  const task = await findAddressedTask(storage.read, { agentId, taskId }, runtime.now());
  if (task === undefined) return refuse("task.not_found");
  const executor = executorOf(task);
  if (isForwarded(task) || !mayActFor(caller, [executor])) {
    return refuse("task.not_participant", "only the executor can claim a task");
  }
  const claimed_by = caller.kind === "agent" ? caller.deviceId : "operator";
  return { ok: true, task, claimant: { executor, claimed_by } };
}

function toLeaseBody({ task_id, lease_until, cancel_requested_at }: Lease) {
  return {
    task_id,
    status: "claimed" as const,
    lease_until,
    ...(cancel_requested_at !== null && { cancel_requested_at }),
  };
}
