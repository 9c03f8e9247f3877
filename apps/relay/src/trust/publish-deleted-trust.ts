import type { Services } from "../services.ts";
import type { TrustPair } from "./store.ts";

/** Removes deleted trust records from the graph, once their deletion is durable. */
export function publishDeletedTrust(
  { trustGraph }: Pick<Services, "trustGraph">,
  deleted: readonly TrustPair[],
): void {
  for (const pair of deleted) trustGraph.remove(pair);
}
