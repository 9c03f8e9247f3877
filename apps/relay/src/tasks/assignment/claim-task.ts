import { refuse, type Refusal } from "@agent/wire";
import type { Services } from "../../services.ts";
import { claimPending, renewLeaseByProgress, type Lease } from "./claim-store.ts";
import { calculateClaimEnd } from "./claim-rules.ts";
import { findTask } from "../store.ts";
import { isForwarded } from "../task.ts";

/** The device of an executor that claims a task; only it renews and releases its claims. */
export interface Claimant {
  readonly executor: string;
  readonly claimed_by: string;
}

type ClaimResult = ({ readonly ok: true } & Lease) | Refusal<"task.not_pending">;

/**
 * Assigns a pending task to the first device that claims it, unless its submitter blocked the executor or
 * it is assigned to another relay's agent. A claim by the device that already has it renews its lease.
 * Refused: `task.not_pending`.
 */
export async function claimTask(
  { storage, runtime, waiters }: Pick<Services, "storage" | "runtime" | "waiters">,
  { executor, claimed_by }: Claimant,
  task_id: string,
): Promise<ClaimResult> {
  const now = runtime.now();
  const claimed = await storage.transaction(async (tx): Promise<Lease | undefined> => {
    const task = await findTask(tx, task_id);
    // Another relay's agent cannot claim here, and a local agent with the same id is a different
    // one.
    if (task === undefined || isForwarded(task)) return undefined;
    if (task.claimed_by === claimed_by)
      return renewLeaseByProgress(tx, { task_id, claimed_by, now });
    const { wall_clock_ms } = task;
    const times = { claimed_at: now, last_sign_at: now, wall_clock_ms, cancel_requested_at: null };
    const lease_until = calculateClaimEnd(times);
    return (await claimPending(tx, { task_id, executor, claimed_by, lease_until, now }))
      ? { task_id, lease_until, cancel_requested_at: null }
      : undefined;
  });
  if (claimed === undefined) return refuse("task.not_pending");
  waiters.notify(task_id);
  return { ok: true, ...claimed };
}
