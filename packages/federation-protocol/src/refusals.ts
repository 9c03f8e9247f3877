/** All codes of this package's refusals. */
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

/** Refusals of a request whose sender, receiver, time or signature is wrong. */
export type RequestCode =
  | "federation.malformed"
  | "federation.signature_invalid"
  | "federation.timestamp_expired"
  | "federation.wrong_receiver"
  | "federation.wrong_sender"
  | "federation.replayed";

/** Refusals of a relay that may not become a peer. */
export type AdmissionCode =
  | "peer.own_identity"
  | "peer.blocked"
  | "peer.not_allowed"
  | "peer.exists"
  | "peer.key_changed"
  | "peer.limit_reached";

/** Refusal of a proposal by a relay that the operator removed. */
export type RemovedCode = "federation.peer_removed";

/** Refusals that end a handshake. */
export type HandshakeCode =
  | "federation.malformed"
  | "peer.not_pending"
  | "peer.identity_mismatch"
  | "peer.challenge_invalid";

/** Refusals of a notice by an established peer. */
export type PeerCode =
  | "federation.malformed"
  | "federation.signature_invalid"
  | "federation.timestamp_expired"
  | "federation.wrong_sender"
  | "peer.timestamp_stale";

/** Refusals of a forwarded task. */
export type ForwardCode =
  | "federation.timestamp_expired"
  | "federation.wrong_sender"
  | "forward.duplicate"
  | "forward.id_taken"
  | "forward.looped"
  | "forward.expired"
  | "forward.agent_not_found"
  | "forward.key_mismatch"
  | "forward.not_offered"
  | "forward.underpaid"
  | "task.too_deep"
  | "clearing.limit_exceeded";

/** Refusals of a returned result. */
export type ResultCode =
  | "federation.malformed"
  | "federation.wrong_sender"
  | "result.task_not_found"
  | "result.wrong_peer"
  | "result.already_finished"
  | "result.key_mismatch"
  | "result.receipt_invalid"
  | "result.attestation_invalid";

/** Refusals of a cancellation by a peer. */
export type CancelCode =
  | "federation.malformed"
  | "federation.wrong_sender"
  | "cancel.task_not_found"
  | "cancel.wrong_peer"
  | "cancel.already_finished";

/** Refusals of a settlement. */
export type SettlementCode =
  | "federation.timestamp_expired"
  | "federation.wrong_sender"
  | "settlement.not_owed"
  | "settlement.not_completed"
  | "settlement.already_settled"
  | "settlement.amount_mismatch"
  | "settlement.receipt_mismatch"
  | "clearing.limit_exceeded";

/** Refusal of a movement that a clearing account does not allow. */
export type ClearingCode = "clearing.limit_exceeded";

/** A refusal as a value; `detail` names the field or the reason and may be shown to the caller. */
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
