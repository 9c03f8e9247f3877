import type { PeerState } from "@agent/wire";
import {
  type AdmissionCode,
  type FederationRefusal,
  refuse,
  type RemovedCode,
} from "../refusals.ts";
import type { PeerRecord } from "./peer.ts";

/** The relays that may become peers, by relay id. */
export interface AdmissionPolicy {
  readonly blocked: readonly string[];
  /** Null allows every relay. */
  readonly allowed: readonly string[] | null;
  readonly maxPeers: number;
}

/** This relay's record of a relay that proposes to peer. */
export interface AdmissionInput {
  readonly self: { readonly relayId: string; readonly publicKey: string };
  /** The record of this relay id, including that of a removed peer, because an id stays bound to its key. */
  readonly known:
    | ({ readonly state: PeerState; readonly publicKey: string } & Pick<
        PeerRecord,
        "removedByOperator"
      >)
    | null;
  /** The number of active and suspended peers. */
  readonly livePeers: number;
}

/**
 * Checks whether a relay may begin a handshake (specification, "Peering admission"). A new proposal
 * with the same key replaces a pending record. Refused: `peer.own_identity`, `peer.blocked`,
 * `peer.not_allowed`, `peer.key_changed`, `peer.exists`, `peer.limit_reached`.
 */
export function checkAdmission(
  { relayId, publicKey }: { readonly relayId: string; readonly publicKey: string },
  { blocked, allowed, maxPeers }: AdmissionPolicy,
  { self, known, livePeers }: AdmissionInput,
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
 * Checks like `checkAdmission`, for a relay that proposes by itself: a peer that the operator removed
 * returns only at the operator's request. Also refused: `federation.peer_removed`.
 */
export function checkProposalAdmission(
  peer: { readonly relayId: string; readonly publicKey: string },
  policy: AdmissionPolicy,
  input: AdmissionInput,
): { readonly ok: true } | FederationRefusal<AdmissionCode | RemovedCode> {
  const { known } = input;
  if (known !== null && known.publicKey === peer.publicKey && known.removedByOperator) {
    return refuse("federation.peer_removed");
  }
  return checkAdmission(peer, policy, input);
}

/**
 * Returns a peer's credit limit after a handshake. A limit that the operator set is kept, even 0, and so is
 * any limit above 0. A peer that never had credit gets the initial limit when the operator adds it.
 */
export function computeCreditAfterHandshake<Amount extends number>(
  known: { readonly creditLimit: Amount; readonly isSetByOperator: boolean } | null,
  { added, initial }: { readonly added: boolean; readonly initial: Amount },
): Amount {
  if (known === null) return initial;
  const keeps = known.isSetByOperator || !added || known.creditLimit > 0;
  return keeps ? known.creditLimit : initial;
}

/**
 * Returns a peer's initial credit limit: the default for a peer that the operator added or allowed by name,
 * and for every peer if peers are accepted automatically; otherwise 0.
 */
export function selectInitialCreditLimit<Amount extends number>(
  grounds: { readonly added: boolean; readonly allowed: boolean; readonly autoAccept: boolean },
  limits: { readonly standard: Amount; readonly none: Amount },
): Amount {
  return grounds.added || grounds.allowed || grounds.autoAccept ? limits.standard : limits.none;
}
