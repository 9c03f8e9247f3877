import type { PeerState } from "@agent/wire";
import {
  type AdmissionCode,
  type FederationRefusal,
  refuse,
  type RemovedCode,
} from "../refusals.ts";
import { isRemovedByOperator, type OperatorRemoval, type PeerRecord } from "./peer.ts";

/** Whom a relay takes as peers, by relay ids. */
export interface AdmissionPolicy {
  readonly blocked: readonly string[];
  /** null: anybody. */
  readonly allowed: readonly string[] | null;
  readonly maxPeers: number;
}

/** What the judging relay knows of a relay that wants to peer. */
export interface AdmissionInput {
  readonly self: { readonly relayId: string; readonly publicKey: string };
  /** The record under this relay id, removed ones included: an id stays with its key for good. */
  readonly known:
    | ({ readonly state: PeerState; readonly publicKey: string } & Pick<
        PeerRecord,
        "operatorRemoval"
      >)
    | null;
  /** How many peers are active or suspended. */
  readonly livePeers: number;
}

/**
 * Whether a relay may begin a handshake (specification, "Peering admission"). A pending record gives
 * way to a new proposal of the same key. Refused: `peer.own_identity`, `peer.blocked`,
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
 * As `checkAdmission`, for a relay that proposes by itself: one that the operator removed comes back only
 * when the operator asks for it. Refused also: `federation.peer_removed`.
 */
export function checkProposalAdmission(
  peer: { readonly relayId: string; readonly publicKey: string },
  policy: AdmissionPolicy,
  input: AdmissionInput,
): { readonly ok: true } | FederationRefusal<AdmissionCode | RemovedCode> {
  const { known } = input;
  if (known !== null && known.publicKey === peer.publicKey && isRemovedByOperator(known)) {
    return refuse("federation.peer_removed");
  }
  return checkAdmission(peer, policy, input);
}

/**
 * The credit limit of a peer after a handshake. What a former peering left holds, unless the operator
 * adds the peer anew; for one that the operator once removed only the operator's own word counts.
 */
export function computeCreditAfterHandshake<Amount extends number>(
  known: { readonly creditLimit: Amount; readonly operatorRemoval: OperatorRemoval } | null,
  { added, initial }: { readonly added: boolean; readonly initial: Amount },
): Amount {
  if (known === null) return initial;
  if (known.operatorRemoval !== null || !added) return known.creditLimit;
  return initial > known.creditLimit ? initial : known.creditLimit;
}

/**
 * The credit limit that a peer begins with: the default for one that this operator added or allowed
 * by name, or for all when peers are accepted automatically; any other one has none.
 */
export function selectInitialCreditLimit<Amount extends number>(
  grounds: { readonly added: boolean; readonly allowed: boolean; readonly autoAccept: boolean },
  limits: { readonly standard: Amount; readonly none: Amount },
): Amount {
  return grounds.added || grounds.allowed || grounds.autoAccept ? limits.standard : limits.none;
}
