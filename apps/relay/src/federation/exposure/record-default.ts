import { toDollars } from "@agent/budget";
import type { InboundTask } from "@agent/federation-protocol/forwarding";
import type { Tx } from "../../storage/storage.ts";
import { recordTrustOutcome, type RecordedOutcome } from "../../trust/record-trust-outcome.ts";
import type { FederationServices } from "../federation-services.ts";

/** Counts one failure of a peer that accepted a result and did not settle it. */
export function recordDefault(
  tx: Tx,
  { identity, runtime }: Pick<FederationServices, "identity" | "runtime">,
  { peerId }: InboundTask,
): Promise<RecordedOutcome | undefined> {
  return recordTrustOutcome(tx, {
    delegatorId: identity.relayId,
    executorId: peerId,
    status: "failed",
    latencyMs: 0,
    priced: true,
    fee: 0,
    now: runtime.now(),
  });
}

/** Logs a stored default for the operator, and updates routing. */
export function publishDefault(
  { federation, trustGraph }: Pick<FederationServices, "federation" | "trustGraph">,
  { taskId, peerId, amount }: InboundTask,
  trust: RecordedOutcome | undefined,
): void {
  if (trust !== undefined) trustGraph.update(trust.record);
  federation.log.error("federation.settlement.defaulted", {
    correlationId: taskId,
    relay_id: peerId,
    amount: toDollars(amount),
  });
}
