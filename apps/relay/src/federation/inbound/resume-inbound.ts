import { resumeInbound as resume } from "@agent/federation-protocol/forwarding";
import { withStoredTrace } from "../../observability/trace.ts";
import type { Tx } from "../../storage/storage.ts";
import { saveInbound, listUnsettledInbound } from "./inbound-store.ts";

/** Resumes the tasks of peers after the relay was frozen for `pausedMs`. */
export async function resumeInbound(
  tx: Tx,
  pause: { now: number; pausedMs: number; restored: boolean },
): Promise<void> {
  for (const inbound of await listUnsettledInbound(tx)) {
    const task = resume(inbound.task, pause);
    // The operator's request did not cause these results, so their rows retain their traces.
    await withStoredTrace(null, () => saveInbound(tx, { ...inbound, task }));
  }
}
