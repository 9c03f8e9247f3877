import { postponeOutbound } from "@agent/federation-protocol/forwarding";
import { withStoredTrace } from "../../observability/trace.ts";
import type { Tx } from "../../storage/storage.ts";
import { listOpenOutbound, saveOutbound } from "./outbound-store.ts";

/**
 * Goes on with the tasks that peers have after the relay stood still for `pausedMs`: it took no results
 * meanwhile, so it takes them as much longer, as it does for every open task.
 */
export async function resumeOutbound(tx: Tx, pausedMs: number): Promise<void> {
  for (const outbound of await listOpenOutbound(tx)) {
    const task = postponeOutbound(outbound.task, pausedMs);
    if (task === outbound.task) continue;
    // The operator's request did not cause these forwards, so their rows keep the traces that they have.
    await withStoredTrace(null, () => saveOutbound(tx, { ...outbound, task }));
  }
}
