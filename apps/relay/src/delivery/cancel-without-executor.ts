import {
  cancelPendingTask,
  publishEndWithoutReceipt,
} from "../tasks/receipts/end-without-receipt.ts";
import type { RouteServices } from "./route-services.ts";

/** Cancels a pending task that no agent can execute any more, and returns its hold. */
export async function cancelWithoutExecutor(
  services: RouteServices,
  task_id: string,
): Promise<void> {
  const { storage, log } = services;
  const cancelled = await storage.transaction((tx) => cancelPendingTask(tx, services, task_id));
  if (cancelled === undefined) return;
  log.info("task.cancelled", { correlationId: task_id });
  publishEndWithoutReceipt(services, cancelled);
}
