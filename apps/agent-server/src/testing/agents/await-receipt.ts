import type { RelayClient } from "@agent/client";

/** Waits until a task has ended, and returns it with its receipt as the relay states them. */
export async function awaitReceipt(
  client: RelayClient,
  params: { readonly agentId: string; readonly taskId: string },
) {
  for (;;) {
    // A long poll returns at every change of the task, also when it is claimed.
    const got = await client.getTask({ params, query: { wait: 5 } });
    if (!got.ok) throw new Error(`${got.code}: ${got.message}`);
    const { task, receipt } = got.body;
    if (receipt !== null) return { task, receipt };
  }
}
