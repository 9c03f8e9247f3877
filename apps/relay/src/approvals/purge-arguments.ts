import { limits } from "@agent/wire";
import type { Services } from "../services.ts";
import { purgeInBatches } from "../storage/run-in-batches.ts";
import { dropOldArguments } from "./store.ts";

/** Purges the arguments that no approver decided on: agents have long stopped waiting for them. */
export async function purgeArguments({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  await purgeInBatches(storage, dropOldArguments, {
    until: runtime.now() - limits.approvalArgumentsMs,
  });
}
