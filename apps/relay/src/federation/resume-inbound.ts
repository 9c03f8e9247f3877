import { resumeInbound as resume } from "@agent/federation-protocol";
import { withStoredTrace } from "../http/trace.ts";
import type { Tx } from "../storage/storage.ts";
import { putInbound, unsettledInbound } from "./inbound-store.ts";

/** Goes on with the tasks of peers after the relay stood still for `stoodMs`. */
export async function resumeInbound(
  tx: Tx,
  pause: { now: number; stoodMs: number; restored: boolean },
): Promise<void> {
  for (const inbound of await unsettledInbound(tx)) {
    const task = resume(inbound.task, pause);
    // The operator's request did not cause these results, so their rows keep the traces that they have.
    await withStoredTrace(null, () => putInbound(tx, { ...inbound, task }));
  }
}
