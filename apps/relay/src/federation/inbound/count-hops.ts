import { toMicro, type Micro } from "@agent/budget";
import { FEDERATION_LIMITS } from "@agent/federation-protocol";
import {
  countPassedHopsAsync,
  listEarlierRelays,
  type TaskForward,
} from "@agent/federation-protocol/forwarding";
import { computeMinPayment } from "@agent/federation-protocol/settlement";
import { getListing } from "../../agents/discovery/listing.ts";
import type { Services } from "../../services.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { findPeer } from "../peers/peer-store.ts";
import type { NextHop } from "../../routing/attempt.ts";

/** The target of a forward; only a local agent has its listing here. */
interface PricedTarget {
  readonly details: { readonly price: Micro | null };
  readonly nextHop: NextHop | undefined;
}

/**
 * Counts the relays whose fees may explain that a forward's payment is below the price. Rows are read and
 * signatures verified only if the payment is lower than a single fee explains.
 */
export async function countHops(
  { storage, config }: Pick<Services, "storage" | "config">,
  from: Pick<FederationPeerRow, "relay_id">,
  {
    message,
    body,
    target,
  }: { message: TaskForward; body: unknown; target: PricedTarget | undefined },
): Promise<number> {
  const paid = toMicro(message.budget.amount);
  const { platformFeeRate } = config.payments;
  const price = target?.details.price ?? null;
  if (
    target === undefined ||
    price === null ||
    paid >= computeMinPayment(price, platformFeeRate, 1)
  ) {
    return 1;
  }
  const [listing, ...peers] = await Promise.all([
    target.nextHop === undefined ? getListing(storage.read, message.target_agent) : undefined,
    ...listEarlierRelays(message, from.relay_id).map((id) => findPeer(storage.read, id)),
  ]);
  const keys = new Map(peers.flatMap((peer) => (peer ? [[peer.relay_id, pinnedKey(peer)]] : [])));
  const listed =
    listing === undefined || listing.ok === false ? undefined : listing.body.federation_hops;
  return countPassedHopsAsync(body, message, {
    from: from.relay_id,
    findKey: (relayId) => keys.get(relayId),
    federationHops: listed ?? FEDERATION_LIMITS.maxHops,
  });
}

function pinnedKey({ state, public_key }: FederationPeerRow): string | null {
  return state === "removed" ? null : public_key;
}
