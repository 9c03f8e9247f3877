import { toDollars } from "@agent/budget";
import type { InboundTask } from "@agent/federation-protocol/forwarding";
import type { FederationServices } from "../federation-services.ts";

/** Logs completed work whose hold expired before its peer answered the result. */
export function logUndecided(
  { federation }: Pick<FederationServices, "federation">,
  { taskId, peerId, amount }: InboundTask,
): void {
  federation.log.error("federation.result.unanswered", {
    correlationId: taskId,
    relay_id: peerId,
    amount: toDollars(amount),
  });
}
