import { toDollars, type TransactionType } from "@agent/budget";
import { refuse, type Answer, type Operations, type QueryOf } from "@agent/wire";
import { listClearingPostings } from "../../budget/post-clearing.ts";
import { listRecentPeerEvents } from "../../feed/list-events.ts";
import { createPageAnswer, numberDescending } from "../../http/paging/page.ts";
import type { FederationServices } from "../federation-services.ts";
import { findPeer } from "./peer-store.ts";

/** Lists the movements between this relay and a peer, newest first. */
export async function listPeerPayments(
  { storage }: FederationServices,
  relayId: string,
  query: QueryOf<Operations["listPeerPayments"]>,
): Promise<Answer<Operations["listPeerPayments"]>> {
  if ((await findPeer(storage.read, relayId)) === undefined) return refuse("peer.not_found");
  return createPageAnswer(query, {
    order: numberDescending,
    find: (before, limit) => listClearingPostings(storage.read, { relayId, before, limit }),
    keyOf: ({ sequence }) => sequence,
    show: (rows) => ({
      payments: rows.map((row) => ({
        at: row.created_at,
        type: row.type as TransactionType,
        amount: toDollars(row.amount),
        position_after: toDollars(row.balance_after),
        reference: row.reference_id,
        description: row.description,
      })),
    }),
  });
}

/** Lists the changes of a peer's state and its missed heartbeats, newest first. */
export async function listPeerHistory(
  services: FederationServices,
  relayId: string,
  query: QueryOf<Operations["listPeerHistory"]>,
): Promise<Answer<Operations["listPeerHistory"]>> {
  const { storage } = services;
  if ((await findPeer(storage.read, relayId)) === undefined) return refuse("peer.not_found");
  return createPageAnswer(query, {
    order: numberDescending,
    find: (before, limit) => listRecentPeerEvents(services, { peer_id: relayId, before, limit }),
    keyOf: ({ sequence }) => sequence,
    show: (history) => ({ history }),
  });
}
