import { createReceipt } from "@agent/testkit";
import type { ExecutionReceipt } from "@agent/receipts";
import { createTestIdentity } from "../agents/test-identity.ts";

const identity = createTestIdentity();

/** Signs a receipt for a task of this id. */
export function buildTestReceipt(taskId: string): ExecutionReceipt {
  const task = { task_id: taskId, prompt: "p", submitted_at: 1_760_000_000_000 };
  return createReceipt({ ...identity, deviceId: "device" }, task);
}
