import type { PeerOperations } from "@agent/federation-protocol/http";
import type { BookedSettlement, SettlementForward } from "@agent/federation-protocol/settlement";
import { limits, type Answer, type QueryOf } from "@agent/wire";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import type { FederationServices } from "../federation-services.ts";
import { findInbound, listSettledInbound } from "../inbound/inbound-store.ts";

/**
 * Lists the settlements that this relay has booked from a peer. A signature over nothing but `{}` can
 * be replayed by any relay that saw it, so it only reveals the settlements of a named task
 * (docs/decisions.md, 7).
 */
export async function listBooked(
  { storage }: FederationServices,
  { relay_id }: FederationPeerRow,
  { task_id, limit = limits.defaultPageSize }: QueryOf<PeerOperations["listBooked"]>,
  bound: boolean,
): Promise<Answer<PeerOperations["listBooked"]>> {
  if (task_id === undefined) {
    const rows = bound ? await listSettledInbound(storage.read, relay_id, limit) : [];
    return { status: 200, body: { settlements: rows.flatMap(toBookedSettlements) } };
  }
  const inbound = await findInbound(storage.read, task_id);
  const own = inbound?.task.peerId === relay_id ? toBookedSettlements(inbound) : [];
  return { status: 200, body: { settlements: own } };
}

function toBookedSettlements({
  settlement,
}: {
  readonly settlement: SettlementForward | null;
}): BookedSettlement[] {
  if (settlement === null) return [];
  const { signature: _signature, timestamp: _timestamp, to: _to, ...record } = settlement;
  return [{ ...record, status: "settled" }];
}
