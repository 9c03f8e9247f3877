import { limits } from "@agent/wire";
import type { Services } from "../services.ts";
import { forgetPairings } from "./store.ts";

const batch = 1_000;

/** Forgets sessions a day after their end; until then their codes are told apart from unknown ones. */
export async function forgetOldPairings({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  const old = { until: runtime.now() - limits.pairingKeptMs, limit: batch };
  while ((await storage.transaction((tx) => forgetPairings(tx, old))) === batch);
}
