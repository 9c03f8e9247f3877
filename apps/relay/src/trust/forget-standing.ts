import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import { deleteStanding, type TrustPair } from "./store.ts";

/** Trust records that were deleted, and are to be taken out of the graph once that is durable. */
export type ForgottenTrust = readonly TrustPair[];

/** Deletes what tasks have told of an executor, because another agent gets its id. Blocks stay. */
export function forgetStanding(tx: Tx, executorId: string): Promise<ForgottenTrust> {
  return deleteStanding(tx, executorId);
}

export function announceForgotten(
  { trustGraph }: Pick<Services, "trustGraph">,
  forgotten: ForgottenTrust,
): void {
  for (const pair of forgotten) trustGraph.remove(pair);
}
