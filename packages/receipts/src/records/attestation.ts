import {
  EncodingError,
  hexToBytes,
  isUuid,
  signJson,
  SUITE,
  verifyJson,
  type Verdict,
} from "@agent/crypto";
import * as v from "valibot";
import { hex32, text, wholeNumber } from "../fields.ts";
import { runChecks } from "../checks/run-checks.ts";

const uuid = v.pipe(v.string("must be a string"), v.check(isUuid, "must be a UUID"));

/** A relay's word on when a receipt came (specification, Relay identity), signed like a receipt. */
export const RelayAttestationSchema = v.pipe(
  v.object(
    {
      relay_id: uuid,
      // The signer's agent id, which of a relay is its relay id.
      agent_id: uuid,
      task_id: text,
      receipt_hash: hex32,
      received_at: wholeNumber,
      attested_at: wholeNumber,
      suite: v.string("must be a string"),
      signature: text,
    },
    "is missing",
  ),
  v.check(
    ({ received_at, attested_at }) => received_at <= attested_at,
    "must be attested after it was received",
  ),
);

/** Times are in ms, `receipt_hash` is the SHA-256 of the canonical JSON of the whole receipt. */
export type RelayAttestation = v.InferOutput<typeof RelayAttestationSchema>;

/** An attestation before it is signed; `agent_id` is the relay's, so it is not asked for. */
export type RelayAttestationBody = Omit<RelayAttestation, "agent_id" | "suite" | "signature">;

/** Every reason for which an attestation is not valid. */
export type AttestationRefusal =
  | "attestation.malformed"
  | "attestation.suite"
  | "attestation.wrong_relay"
  | "attestation.task_mismatch"
  | "attestation.receipt_mismatch"
  | "attestation.key_missing"
  | "attestation.signature_invalid";

/** What the verifier knows besides the attestation; what is left out is not asked. */
export interface VerifyAttestationOptions {
  /** The relay's key as 64 hex digits: an attestation carries none, so without it none is valid. */
  readonly publicKey?: string | undefined;
  /** The relay that has to have attested. */
  readonly relayId?: string | undefined;
  /** The task that it has to be about. */
  readonly taskId?: string | undefined;
  /** The receipt that it has to be about, by its `receiptHash`. */
  readonly receiptHash?: string | undefined;
}

/** The body with `agent_id`, `suite` and `signature`; `secretKey` is the relay's 32-byte seed. */
export function signAttestation(
  body: RelayAttestationBody,
  secretKey: Uint8Array,
): RelayAttestation {
  return signJson({ ...body, agent_id: body.relay_id, suite: SUITE }, secretKey);
}

/** Judges a relay's attestation; AttestationRefusal lists its codes. Never throws on a value. */
export function verifyAttestation(
  value: unknown,
  { publicKey, relayId, taskId, receiptHash }: VerifyAttestationOptions = {},
): Verdict<AttestationRefusal> {
  const attestation = v.is(RelayAttestationSchema, value) ? value : null;
  const matches = (expected: string | undefined, found: string | undefined) =>
    expected === undefined || expected === found;
  return runChecks<AttestationRefusal>([
    ["structure", "attestation.malformed", () => attestation !== null],
    ["suite", "attestation.suite", () => attestation?.suite === SUITE],
    [
      "relay",
      "attestation.wrong_relay",
      () =>
        attestation?.relay_id === attestation?.agent_id && matches(relayId, attestation?.relay_id),
    ],
    ["task", "attestation.task_mismatch", () => matches(taskId, attestation?.task_id)],
    [
      "receipt",
      "attestation.receipt_mismatch",
      () => matches(receiptHash, attestation?.receipt_hash),
    ],
    ["key", "attestation.key_missing", () => publicKey !== undefined],
    ["signature", "attestation.signature_invalid", () => isSignedBy(attestation, publicKey)],
  ]);
}

function isSignedBy(attestation: RelayAttestation | null, publicKey: string | undefined): boolean {
  try {
    return publicKey !== undefined && verifyJson(attestation, hexToBytes(publicKey));
  } catch (error) {
    if (error instanceof EncodingError) return false;
    throw error;
  }
}
