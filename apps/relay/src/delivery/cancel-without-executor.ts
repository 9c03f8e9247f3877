import {
  endWithoutReceipt,
  publishEndWithoutReceipt,
} from "../tasks/receipts/end-without-receipt.ts";
import { cancelPending } from "../tasks/store.ts";
import type { RouteServices } from "./route-services.ts";

/** Cancels a pending task that no agent can execute any more, and returns its hold. */
export async function cancelWithoutExecutor(
  services: RouteServices,
  task_id: string,
): Promise<void> {
  const { storage, runtime, log } = services;
  const cancelled = await storage.transaction(async (tx) => {
    const row = await cancelPending(tx, task_id, runtime.now());
    if (row !== undefined) await endWithoutReceipt(tx, services, row, "cancelled");
    return row;
  });
  if (cancelled === undefined) return;
  log.info("task.cancelled", { correlationId: task_id });
  publishEndWithoutReceipt(services, cancelled);
}
