import type { RelayClient } from "@agent/client";
import { awaitReceipt } from "./await-receipt.ts";

type SubmittedBody = Parameters<RelayClient["submitTask"]>[0]["body"];

/** Submits a task to an agent, waits until it has ended, and returns its receipt as the relay states it. */
export async function submitForReceipt(client: RelayClient, agentId: string, body: SubmittedBody) {
  const submitted = await client.submitTask({ params: { agentId }, body });
  if (!submitted.ok) throw new Error(`${submitted.code}: ${submitted.message}`);
  const { receipt } = await awaitReceipt(client, { agentId, taskId: submitted.body.task_id });
  return receipt;
}
