import type { FederationCode } from "./refusals.ts";

/**
 * The HTTP status of each refusal (specification, "Errors"). They are part of the protocol: by them
 * the sender decides whether what it sent may be tried again (`meaningOf`). A result or a settlement
 * that is not the sender's to speak about looks like one that does not exist.
 */
export const REFUSAL_STATUS = {
  "federation.malformed": 400,
  "federation.signature_invalid": 403,
  "federation.timestamp_expired": 403,
  "federation.wrong_receiver": 403,
  "federation.wrong_sender": 403,
  "federation.replayed": 403,
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
  "forward.expired": 410,
  "forward.agent_not_found": 404,
  "forward.key_mismatch": 422,
  "forward.underpaid": 402,
  "result.task_not_found": 404,
  "result.wrong_peer": 404,
  "result.already_finished": 409,
  "result.key_mismatch": 422,
  "result.receipt_invalid": 422,
  "result.attestation_invalid": 422,
  "settlement.not_owed": 404,
  "settlement.not_completed": 409,
  "settlement.already_settled": 409,
  "settlement.amount_mismatch": 409,
  "settlement.receipt_mismatch": 409,
  "clearing.limit_exceeded": 402,
} as const satisfies Record<FederationCode, number>;
