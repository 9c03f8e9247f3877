import { createReceipt } from "@agent/testkit";
import { createBuyer, submitAcceptedTask, createSeller } from "../../market.ts";
import type { Reply, TestRelay } from "../../test-relay.ts";
import type { Contract } from "../outcome.ts";

/** Calls as the worker, once its receipt is in the archive. */
const afterDelivery = (what: (taskId: string) => string) => async (t: TestRelay) => {
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  const task = await submitAcceptedTask(t, boss, worker);
  await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
  return t.as(worker, "GET", `/api/v1/agents/${worker.agentId}/receipts${what(task.task_id)}`);
};

const empty =
  (what: string) =>
  async (t: TestRelay): Promise<Reply> => {
    const agent = await t.createAgent();
    return t.as(agent, "GET", `/api/v1/agents/${agent.agentId}/receipts${what}`);
  };

export const receiptsContract: Contract<"listReceipts" | "getReceipt"> = {
  listReceipts: { 200: afterDelivery(() => ""), "request.invalid": empty("?cursor=%20") },
  getReceipt: {
    200: afterDelivery((taskId) => `/${taskId}`),
    "receipt.not_found": empty("/unknown"),
  },
};
