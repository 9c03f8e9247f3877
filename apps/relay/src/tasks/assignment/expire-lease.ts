import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import type { StoredTaskRow, TaskRow } from "../../storage/tables/tasks.ts";
import { expireClaim, releaseClaim, type HeldClaim } from "./claim-store.ts";
import { publishReputation } from "../receipts/record-task-outcome.ts";
import { recordNoShow, type NoShowServices } from "./record-no-show.ts";
import { resolveEndedClaim, publishReleasedTask, type ReleasedTask } from "./end-claim.ts";
import { findTask } from "../store.ts";
import { isClaimedByEndpoint } from "../task.ts";

export type ExpireServices = NoShowServices &
  Pick<Services, "storage" | "waiters" | "connections" | "log" | "trustGraph">;

/**
 * Ends a claim whose lease has expired; undefined if it was renewed in the meantime. The relay ends its own
 * endpoint calls: if the lease of such a call still expires, it belonged to an earlier run of the relay, so
 * it does not count against the agent.
 */
export function expireLease(
  services: ExpireServices,
  task_id: string,
): Promise<ReleasedTask["status"] | undefined> {
  const end: EndClaim = (tx, now) => expireClaim(tx, task_id, now);
  return expireClaimBy(services, task_id, { end, isNoShow: (held) => !isClaimedByEndpoint(held) });
}

/** Ends the claim of a call that ran out of time, like an expired lease. */
export function expireCall(
  services: ExpireServices,
  claim: Omit<HeldClaim, "now">,
): Promise<ReleasedTask["status"] | undefined> {
  const end: EndClaim = (tx, now) => releaseClaim(tx, { ...claim, now });
  return expireClaimBy(services, claim.task_id, { end, isNoShow: () => true });
}

type EndClaim = (tx: Tx, now: number) => Promise<StoredTaskRow | undefined>;

/** A claim that ends because its submitter requested a cancel is not a no-show. */
async function expireClaimBy(
  services: ExpireServices,
  task_id: string,
  { end, isNoShow }: { readonly end: EndClaim; readonly isNoShow: (held: TaskRow) => boolean },
): Promise<ReleasedTask["status"] | undefined> {
  const { storage, runtime, log } = services;
  const ended = await storage.transaction(async (tx) => {
    const before = await findTask(tx, task_id);
    const released = await end(tx, runtime.now());
    if (before === undefined || released === undefined) return undefined;
    const unclaimed = await resolveEndedClaim(tx, services, released);
    const isCounted = unclaimed.status === "pending" && isNoShow(before);
    const reputationUpdate = isCounted ? await recordNoShow(tx, services, before) : undefined;
    return { before, unclaimed, reputationUpdate };
  });
  if (ended === undefined) return undefined;
  const { before, unclaimed, reputationUpdate } = ended;
  log.warn("task.lease_lapsed", { correlationId: task_id, claimed_by: before.claimed_by });
  publishReleasedTask(services, unclaimed);
  if (reputationUpdate !== undefined) publishReputation(services, task_id, reputationUpdate);
  return unclaimed.status;
}
