import { type AdmissionCode, type FederationRefusal, refuse } from "./refusals.ts";
import type { PeerState } from "./messages/peer.ts";

/** Whom a relay takes as peers, by relay ids. */
export interface AdmissionPolicy {
  readonly blocked: readonly string[];
  /** null: anybody. */
  readonly allowed: readonly string[] | null;
  readonly maxPeers: number;
}

/** What the judging relay knows of a relay that wants to peer. */
export interface PeerStanding {
  readonly self: { readonly relayId: string; readonly publicKey: string };
  /** The record under this relay id, removed ones included: an id stays with its key for good. */
  readonly known: { readonly state: PeerState; readonly publicKey: string } | null;
  /** How many peers are active or suspended. */
  readonly livePeers: number;
}

/**
 * Whether a relay may begin a handshake (specification, "Peering admission"). A pending record gives
 * way to a new proposal of the same key. Refused: `peer.own_identity`, `peer.blocked`,
 * `peer.not_allowed`, `peer.key_changed`, `peer.exists`, `peer.limit_reached`.
 */
export function admitPeer(
  { relayId, publicKey }: { readonly relayId: string; readonly publicKey: string },
  { blocked, allowed, maxPeers }: AdmissionPolicy,
  { self, known, livePeers }: PeerStanding,
): { readonly ok: true } | FederationRefusal<AdmissionCode> {
  if (relayId === self.relayId || publicKey === self.publicKey) return refuse("peer.own_identity");
  if (blocked.includes(relayId)) return refuse("peer.blocked");
  if (allowed !== null && !allowed.includes(relayId)) return refuse("peer.not_allowed");
  if (known !== null && known.publicKey !== publicKey) return refuse("peer.key_changed");
  if (known?.state === "active" || known?.state === "suspended") return refuse("peer.exists");
  if (livePeers >= maxPeers) return refuse("peer.limit_reached");
  return { ok: true };
}

/**
 * The credit limit that a peer begins with: the default for one that this operator added or allowed
 * by name, or for all when peers are accepted automatically; any other one has none.
 */
export function initialCreditLimit<Amount extends number>(
  trusted: { readonly added: boolean; readonly allowed: boolean; readonly autoAccept: boolean },
  limits: { readonly standard: Amount; readonly none: Amount },
): Amount {
  return trusted.added || trusted.allowed || trusted.autoAccept ? limits.standard : limits.none;
}
