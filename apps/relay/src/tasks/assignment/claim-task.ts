import { refuse, type Refusal } from "@agent/wire";
import type { Services } from "../../services.ts";
import { claimPending, renewLeaseByProgress, type Lease } from "./claim-store.ts";
import { calculateClaimEnd, isHeldByOtherProcess, type ClaimSocket } from "./claim-rules.ts";
import type { StoredTaskRow } from "../../storage/tables/tasks.ts";
import { findTask } from "../store.ts";
import { isForwarded } from "../task.ts";

/** The device of an executor that claims a task; only it renews and releases its claims. */
export interface Claimant {
  readonly executor: string;
  readonly claimed_by: string;
}

type ClaimServices = Pick<Services, "storage" | "runtime" | "waiters">;
type Claimed = { readonly ok: true } & Lease;

/**
 * Assigns a pending task to the first device that claims it, unless its submitter blocked the executor or
 * it is assigned to another relay's agent. A claim by the device that already has it renews its lease.
 * Refused: `task.not_pending`.
 */
export async function claimTask(
  services: ClaimServices,
  claimant: Claimant,
  task_id: string,
): Promise<Claimed | Refusal<"task.not_pending">> {
  const claimed = await claimOrRenew(services, { ...claimant, task_id }, () => true);
  return typeof claimed === "object" ? { ok: true, ...claimed } : refuse("task.not_pending");
}

/**
 * Does the same for a device that claims on a socket, unless another process with the device's key has the task.
 * Refused: `task.not_pending`, `task.other_process`.
 */
export async function claimOnSocket(
  services: ClaimServices,
  claimant: Claimant,
  { task_id, socket }: { readonly task_id: string; readonly socket: ClaimSocket },
): Promise<Claimed | Refusal<"task.not_pending" | "task.other_process">> {
  const claimed = await claimOrRenew(
    services,
    { ...claimant, task_id },
    ({ claimed_at }) => !isHeldByOtherProcess(claimed_at, socket),
  );
  if (typeof claimed === "object") return { ok: true, ...claimed };
  return refuse(claimed === "kept" ? "task.other_process" : "task.not_pending");
}

/** Returns the lease; `kept` if the device has the task and `mayRenew` forbids to renew its claim. */
async function claimOrRenew(
  { storage, runtime, waiters }: ClaimServices,
  { executor, claimed_by, task_id }: Claimant & { readonly task_id: string },
  mayRenew: (task: StoredTaskRow) => boolean,
): Promise<Lease | "kept" | undefined> {
  const now = runtime.now();
  const claimed = await storage.transaction(async (tx): Promise<Lease | "kept" | undefined> => {
    const task = await findTask(tx, task_id);
    // Another relay's agent cannot claim here, and a local agent with the same id is a different
    // one.
    if (task === undefined || isForwarded(task)) return undefined;
    if (task.claimed_by === claimed_by) {
      return mayRenew(task) ? renewLeaseByProgress(tx, { task_id, claimed_by, now }) : "kept";
    }
    const { wall_clock_ms } = task;
    const times = { claimed_at: now, last_sign_at: now, wall_clock_ms, cancel_requested_at: null };
    const lease_until = calculateClaimEnd(times);
    return (await claimPending(tx, { task_id, executor, claimed_by, lease_until, now }))
      ? { task_id, lease_until, cancel_requested_at: null }
      : undefined;
  });
  if (typeof claimed === "object") waiters.notify(task_id);
  return claimed;
}
