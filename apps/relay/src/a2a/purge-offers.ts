import type { Services } from "../services.ts";
import { deleteOldOffers } from "./shown-offer-store.ts";

/** Deletes the offers of a relay with several processes that were shown long ago, and the oldest of too many. */
export async function purgeShownOffers({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  await storage.transaction((tx) => deleteOldOffers(tx, runtime.now()));
}
