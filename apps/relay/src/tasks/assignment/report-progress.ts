import { refuse, type Refusal } from "@agent/wire";
import type { Services } from "../../services.ts";
import { renewLeaseByProgress, type Lease } from "./claim-store.ts";
import type { Claimant } from "./claim-task.ts";

type ProgressResult = ({ readonly ok: true } & Lease) | Refusal<"task.not_claimed">;

/**
 * Renews the claim of a device that reports progress, with or without a note. Refused:
 * `task.not_claimed`.
 */
export async function reportProgress(
  { storage, runtime, waiters }: Pick<Services, "storage" | "runtime" | "waiters">,
  { claimed_by }: Claimant,
  { task_id, note }: { readonly task_id: string; readonly note?: string | undefined },
): Promise<ProgressResult> {
  const now = runtime.now();
  const lease = await storage.transaction((tx) =>
    renewLeaseByProgress(tx, { task_id, claimed_by, now, note }),
  );
  if (lease === undefined) return refuse("task.not_claimed");
  if (note !== undefined) waiters.notify(task_id);
  return { ok: true, ...lease };
}
