import type { RelayClient } from "@agent/client";

type SubmittedBody = Parameters<RelayClient["submitTask"]>[0]["body"];

/** Submits a task to an agent, waits until it has ended, and returns its receipt as the relay states it. */
export async function submitForReceipt(client: RelayClient, agentId: string, body: SubmittedBody) {
  const submitted = await client.submitTask({ params: { agentId }, body });
  if (!submitted.ok) throw new Error(submitted.message);
  const params = { agentId, taskId: submitted.body.task_id };
  for (;;) {
    // A long poll returns at every change of the task, also when it is claimed.
    const got = await client.getTask({ params, query: { wait: 5 } });
    if (!got.ok) throw new Error(got.message);
    if (got.body.receipt !== null) return got.body.receipt;
  }
}
