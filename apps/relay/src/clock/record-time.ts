import type { Services } from "../services.ts";
import { saveTime } from "./store.ts";

/**
 * Stores the time, so that a relay that starts after its wall clock was set back can continue there. A
 * crash loses less than the 60 s within which the clock follows the wall clock anyway.
 */
export async function recordTime({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  await storage.transaction((tx) => saveTime(tx, runtime.now()));
}
