import { savePlace } from "../agents/discovery/places/move-place.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import { deleteHistory, deleteTrustRecords, type TrustPair } from "./store.ts";

/** Deleted trust records, which must be removed from the graph once that is durable. */
export type DeletedTrust = readonly TrustPair[];

/** Deletes what tasks have added about an executor, because another agent gets its id. Blocks stay. */
export async function deleteReputation(tx: Tx, executorId: string): Promise<DeletedTrust> {
  const deleted = await deleteTrustRecords(tx, executorId);
  await deleteHistory(tx, executorId);
  await savePlace(tx, executorId);
  return deleted;
}

export function publishDeletedTrust(
  { trustGraph }: Pick<Services, "trustGraph">,
  deleted: DeletedTrust,
): void {
  for (const pair of deleted) trustGraph.remove(pair);
}
