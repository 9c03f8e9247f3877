/** Every code of this package's refusals. */
export type FederationCode =
  | RequestCode
  | AdmissionCode
  | RemovedCode
  | HandshakeCode
  | PeerCode
  | ForwardCode
  | ResultCode
  | CancelCode
  | SettlementCode
  | ClearingCode;

/** A request that is not what it claims to be. */
export type RequestCode =
  | "federation.malformed"
  | "federation.signature_invalid"
  | "federation.timestamp_expired"
  | "federation.wrong_receiver"
  | "federation.wrong_sender"
  | "federation.replayed";

/** A relay that does not become a peer. */
export type AdmissionCode =
  | "peer.own_identity"
  | "peer.blocked"
  | "peer.not_allowed"
  | "peer.exists"
  | "peer.key_changed"
  | "peer.limit_reached";

/** A proposal of a relay that the operator removed. */
export type RemovedCode = "federation.peer_removed";

/** A handshake that is broken off. */
export type HandshakeCode =
  | "federation.malformed"
  | "peer.not_pending"
  | "peer.identity_mismatch"
  | "peer.challenge_invalid";

/** Something that an established peer may not do. */
export type PeerCode =
  | "federation.malformed"
  | "federation.signature_invalid"
  | "federation.timestamp_expired"
  | "federation.wrong_sender"
  | "peer.timestamp_stale";

/** A task that is not taken over. */
export type ForwardCode =
  | "federation.timestamp_expired"
  | "federation.wrong_sender"
  | "forward.duplicate"
  | "forward.looped"
  | "forward.expired"
  | "forward.agent_not_found"
  | "forward.key_mismatch"
  | "forward.not_offered"
  | "forward.underpaid"
  | "clearing.limit_exceeded";

/** A result that is not taken. */
export type ResultCode =
  | "federation.malformed"
  | "federation.wrong_sender"
  | "result.task_not_found"
  | "result.wrong_peer"
  | "result.already_finished"
  | "result.key_mismatch"
  | "result.receipt_invalid"
  | "result.attestation_invalid";

/** A task that a peer may not have cancelled. */
export type CancelCode =
  | "federation.malformed"
  | "federation.wrong_sender"
  | "cancel.task_not_found"
  | "cancel.wrong_peer"
  | "cancel.already_finished";

/** A settlement that is not booked. */
export type SettlementCode =
  | "federation.timestamp_expired"
  | "federation.wrong_sender"
  | "settlement.not_owed"
  | "settlement.not_completed"
  | "settlement.already_settled"
  | "settlement.amount_mismatch"
  | "settlement.receipt_mismatch"
  | "clearing.limit_exceeded";

/** A movement that a clearing account does not allow. */
export type ClearingCode = "clearing.limit_exceeded";

/** A refusal as a value; `detail` names the field or the reason, and is safe to show. */
export interface FederationRefusal<Code extends FederationCode = FederationCode> {
  readonly ok: false;
  readonly code: Code;
  readonly detail?: string;
}

export function refuse<Code extends FederationCode>(
  code: Code,
  detail?: string,
): FederationRefusal<Code> {
  return detail === undefined ? { ok: false, code } : { ok: false, code, detail };
}
