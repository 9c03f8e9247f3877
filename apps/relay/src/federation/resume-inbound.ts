import { postponeInbound, returnAgain } from "@agent/federation-protocol";
import { withStoredTrace } from "../http/trace.ts";
import type { Tx } from "../storage/storage.ts";
import { putInbound, unsettledInbound } from "./inbound-store.ts";

/**
 * Goes on with the tasks of peers after the relay stood still for `stoodMs`: a peer could not settle
 * meanwhile, so it has as much longer. After a restore it is asked for the settlements that the backup
 * lacks, by bringing it the results again.
 */
export async function resumeInbound(
  tx: Tx,
  { now, stoodMs, restored }: { now: number; stoodMs: number; restored: boolean },
): Promise<void> {
  for (const inbound of await unsettledInbound(tx)) {
    const postponed = postponeInbound(inbound.task, stoodMs);
    const task = restored ? returnAgain(postponed, now) : postponed;
    // The operator's request did not cause these results, so their rows keep the traces that they have.
    await withStoredTrace(null, () => putInbound(tx, { ...inbound, task }));
  }
}
