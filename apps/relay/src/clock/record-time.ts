import type { Services } from "../services.ts";
import { saveTime } from "./store.ts";

/**
 * Stores the time, so that a start after the wall clock went back can begin there. What is lost by a
 * crash is less than the 60 s within which the clock follows the wall clock anyway.
 */
export async function recordTime({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  await storage.transaction((tx) => saveTime(tx, runtime.now()));
}
