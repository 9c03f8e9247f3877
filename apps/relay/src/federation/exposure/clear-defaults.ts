import { toDollars } from "@agent/budget";
import { clearDefault } from "@agent/federation-protocol/forwarding";
import { refuse, type Answer, type Operations } from "@agent/wire";
import type { FederationServices } from "../federation-services.ts";
import { listUnpaidInbound, saveInbound } from "../inbound/inbound-store.ts";
import { findPeer } from "../peers/peer-store.ts";

/** Stops counting a peer's defaults and refused results against its credit, by decision of the operator. */
export async function clearDefaults(
  { storage, federation }: Pick<FederationServices, "storage" | "federation">,
  relayId: string,
  reason: string,
): Promise<Answer<Operations["clearPeerDefaults"]>> {
  const cleared = await storage.transaction(async (tx) => {
    // Defaults still count after the peering has ended.
    if ((await findPeer(tx, relayId)) === undefined) return undefined;
    const unpaid = await listUnpaidInbound(tx, relayId);
    for (const inbound of unpaid) {
      await saveInbound(tx, { ...inbound, task: clearDefault(inbound.task) });
    }
    const amount = unpaid.reduce((sum, { task }) => sum + task.amount, 0);
    return { amount: toDollars(amount), tasks: unpaid.length };
  });
  if (cleared === undefined) return refuse("peer.not_found");
  const { amount, tasks } = cleared;
  federation.log.warn("federation.defaults.cleared", { relay_id: relayId, amount, tasks, reason });
  return { status: 200, body: { relay_id: relayId, cleared: amount, tasks } };
}
