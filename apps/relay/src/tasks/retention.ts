import { uuidV7 } from "@agent/crypto";
import type { Services } from "../services.ts";
import { forgetFinished } from "./store.ts";

const DAY = 86_400_000;
const batch = 1_000;

/** Forgets finished tasks after the configured days; ids grow with time, so no index is needed. */
export async function forgetOldTasks({
  storage,
  runtime,
  config,
}: Pick<Services, "storage" | "runtime" | "config">): Promise<void> {
  const { retentionDays } = config.storage;
  if (retentionDays === 0) return;
  const before = uuidV7(runtime.now() - retentionDays * DAY, new Uint8Array(10));
  await storage.transaction((tx) => forgetFinished(tx, before, batch));
}
