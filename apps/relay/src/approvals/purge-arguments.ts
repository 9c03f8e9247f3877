import { limits } from "@agent/wire";
import type { Services } from "../services.ts";
import { BATCH_SIZE, purgeInBatches } from "../storage/purge-in-batches.ts";
import { dropOldArguments } from "./store.ts";

/** Purges the arguments that no approver decided on: agents have long stopped waiting for them. */
export async function purgeArguments({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  const old = { until: runtime.now() - limits.approvalArgumentsMs, limit: BATCH_SIZE };
  await purgeInBatches(() => storage.transaction((tx) => dropOldArguments(tx, old)));
}
