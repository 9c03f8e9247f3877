import type { FederationCode } from "./refusals.ts";

/**
 * The HTTP status of each refusal (specification, "Errors"). They are part of the protocol: by status
 * and code the sender decides whether what it sent may be tried again (`meaningOf`).
 */
export const REFUSAL_STATUS = {
  "federation.malformed": 400,
  "federation.signature_invalid": 403,
  "federation.timestamp_expired": 403,
  "federation.wrong_receiver": 403,
  "federation.wrong_sender": 403,
  "federation.replayed": 403,
  "federation.peer_removed": 403,
  "peer.own_identity": 409,
  "peer.blocked": 403,
  "peer.not_allowed": 403,
  "peer.exists": 409,
  "peer.key_changed": 409,
  "peer.limit_reached": 503,
  "peer.not_pending": 404,
  "peer.identity_mismatch": 403,
  "peer.challenge_invalid": 403,
  "peer.timestamp_stale": 403,
  "forward.duplicate": 409,
  "forward.looped": 400,
  "forward.expired": 400,
  "forward.agent_not_found": 404,
  "forward.key_mismatch": 400,
  "forward.not_offered": 422,
  "forward.underpaid": 402,
  "result.task_not_found": 404,
  "result.wrong_peer": 403,
  "result.already_finished": 409,
  "result.key_mismatch": 400,
  "result.receipt_invalid": 400,
  "result.attestation_invalid": 400,
  "settlement.not_owed": 404,
  "settlement.not_completed": 409,
  "settlement.already_settled": 409,
  "settlement.amount_mismatch": 400,
  "settlement.receipt_mismatch": 400,
  "clearing.limit_exceeded": 402,
} as const satisfies Record<FederationCode, number>;
