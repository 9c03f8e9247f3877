import { createReceipt } from "@agent/testkit";
import { signLedger, type SignedLedger } from "@agent/ledger";
import type { ExecutionReceipt } from "@agent/receipts";
import { createTestIdentity } from "../agents/test-identity.ts";

const identity = createTestIdentity();

/** Signs a receipt for a task of this id. */
export function buildTestReceipt(taskId: string): ExecutionReceipt {
  const task = { task_id: taskId, prompt: "p", submitted_at: 1_760_000_000_000 };
  return createReceipt({ ...identity, deviceId: "device" }, task);
}

/** Signs a ledger for the task of this id. */
export function buildTestLedger(taskId: string): SignedLedger {
  const at = 1_760_000_000_000;
  return signLedger(
    {
      agent_id: identity.agentId,
      goal_id: taskId,
      plan_id: "",
      started_at: at,
      completed_at: at,
      status: "completed",
      timeline: [{ timestamp: at, type: "goal_started", payload: { goal_id: taskId } }],
      steps: [],
    },
    identity.secretKey,
  );
}
