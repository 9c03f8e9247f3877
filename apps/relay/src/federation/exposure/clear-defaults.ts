import { toDollars } from "@agent/budget";
import { clearDefault } from "@agent/federation-protocol";
import { refuse, type Answer, type Operations } from "@agent/wire";
import type { FederationServices } from "../federation.ts";
import { listDefaultedInbound, saveInbound } from "../inbound/inbound-store.ts";
import { findPeer } from "../peers/peer-store.ts";

/** The operator no longer counts as owed what a peer did not settle in time. */
export async function clearDefaults(
  { storage, federation }: Pick<FederationServices, "storage" | "federation">,
  relayId: string,
  reason: string,
): Promise<Answer<Operations["clearPeerDefaults"]>> {
  const cleared = await storage.transaction(async (tx) => {
    // A peering may be over while its defaults still count.
    if ((await findPeer(tx, relayId)) === undefined) return undefined;
    const defaulted = await listDefaultedInbound(tx, relayId);
    for (const inbound of defaulted) {
      await saveInbound(tx, { ...inbound, task: clearDefault(inbound.task) });
    }
    const amount = defaulted.reduce((sum, { task }) => sum + task.amount, 0);
    return { amount: toDollars(amount), tasks: defaulted.length };
  });
  if (cleared === undefined) return refuse("peer.not_found");
  const { amount, tasks } = cleared;
  federation.log.warn("federation.defaults.cleared", { relay_id: relayId, amount, tasks, reason });
  return { status: 200, body: { relay_id: relayId, cleared: amount, tasks } };
}
