import { receiptOf } from "@agent/testkit";
import type { ExecutionReceipt } from "@agent/receipts";
import { newIdentity } from "./identity.ts";

const identity = newIdentity();

/** A signed receipt for a task of this id. */
export function receiptFor(taskId: string): ExecutionReceipt {
  const task = { task_id: taskId, prompt: "p", submitted_at: 1_760_000_000_000 };
  return receiptOf({ ...identity, deviceId: "device" }, task);
}
