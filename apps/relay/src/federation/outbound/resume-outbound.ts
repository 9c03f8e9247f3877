import { postponeOutbound } from "@agent/federation-protocol/forwarding";
import { withStoredTrace } from "../../observability/trace.ts";
import type { Tx } from "../../storage/storage.ts";
import { listOpenOutbound, saveOutbound } from "./outbound-store.ts";

/**
 * Resumes the tasks that peers have after the relay was frozen for `pausedMs`. It accepted no results
 * during that time, so their deadlines are extended by it, like those of every open task.
 */
export async function resumeOutbound(tx: Tx, pausedMs: number): Promise<void> {
  for (const outbound of await listOpenOutbound(tx)) {
    const task = postponeOutbound(outbound.task, pausedMs);
    if (task === outbound.task) continue;
    // The operator's request did not cause these forwards, so their rows retain their traces.
    await withStoredTrace(null, () => saveOutbound(tx, { ...outbound, task }));
  }
}
