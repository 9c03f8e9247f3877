import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { StoredTaskRow } from "../storage/tables/tasks.ts";
import { lapseClaim, releaseClaim, type Held } from "./assignment-store.ts";
import { announceStanding } from "./count-task.ts";
import { recordNoShow, type NoShowServices } from "./record-no-show.ts";
import { afterClaim, announceUnclaimed, type Unclaimed } from "./release-claim.ts";
import { findTask } from "./store.ts";

export type LapseServices = NoShowServices &
  Pick<Services, "storage" | "waiters" | "connections" | "log" | "trustGraph">;

/** Ends a claim whose lease is over; undefined when it was renewed meanwhile. */
export function lapse(
  services: LapseServices,
  task_id: string,
): Promise<Unclaimed["status"] | undefined> {
  return lapseBy(services, task_id, (tx, now) => lapseClaim(tx, task_id, now));
}

/** Ends the claim of a call that ran out of time, as the lapse of a lease. */
export function lapseCall(
  services: LapseServices,
  claim: Omit<Held, "now">,
): Promise<Unclaimed["status"] | undefined> {
  return lapseBy(services, claim.task_id, (tx, now) => releaseClaim(tx, { ...claim, now }));
}

/** A claim that ends because its submitter asked for it is no no-show. */
async function lapseBy(
  services: LapseServices,
  task_id: string,
  end: (tx: Tx, now: number) => Promise<StoredTaskRow | undefined>,
): Promise<Unclaimed["status"] | undefined> {
  const { storage, runtime, log } = services;
  const ended = await storage.transaction(async (tx) => {
    const before = await findTask(tx, task_id);
    const released = await end(tx, runtime.now());
    if (before === undefined || released === undefined) return undefined;
    const unclaimed = await afterClaim(tx, services, released);
    const standing =
      unclaimed.status === "pending" ? await recordNoShow(tx, services, before) : undefined;
    return { before, unclaimed, standing };
  });
  if (ended === undefined) return undefined;
  const { before, unclaimed, standing } = ended;
  log.warn("task.lease_lapsed", { correlationId: task_id, claimed_by: before.claimed_by });
  announceUnclaimed(services, unclaimed);
  if (standing !== undefined) announceStanding(services, task_id, standing);
  return unclaimed.status;
}
