import { type Check, isUuid, type Verdict } from "@agent/crypto";
import * as v from "valibot";
import { hex32, text, wholeNumber } from "../fields.ts";
import { buildSubjectChecks } from "./inspection-statement.ts";
import { createRecordVerifier, signRecord } from "./signed-record.ts";

const uuid = v.pipe(v.string("must be a string"), v.check(isUuid, "must be a UUID"));

/**
 * A relay's statement of the time at which it received a receipt (specification, Relay identity),
 * signed like a receipt.
 */
export const RelayAttestationSchema = v.pipe(
  v.object(
    {
      relay_id: uuid,
      // The agent id of the signer; a relay's is its relay id.
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

/**
 * Times are in ms since the epoch, by the attesting relay's clock; `receipt_hash` is the SHA-256 of the
 * canonical JSON of the whole receipt.
 */
export type RelayAttestation = v.InferOutput<typeof RelayAttestationSchema>;

/** An attestation before it is signed; `agent_id` is added from `relay_id`. */
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

/** The verifier's own values; checks whose value is left out do not run. */
export interface VerifyAttestationOptions {
  /**
   * The relay's key as 64 hex digits. An attestation contains no key, so without this one it is not valid.
   */
  readonly publicKey?: string | undefined;
  /** The relay that must have attested. */
  readonly relayId?: string | undefined;
  /** The task that it must be about. */
  readonly taskId?: string | undefined;
  /** The receipt that it must be about, by its `hashReceipt`. */
  readonly receiptHash?: string | undefined;
}

/** Returns the body with `agent_id`, `suite` and `signature`; `secretKey` is the relay's 32-byte seed. */
export function signAttestation(
  body: RelayAttestationBody,
  secretKey: Uint8Array,
): RelayAttestation {
  return signRecord({ ...body, agent_id: body.relay_id }, secretKey);
}

const attestationChecks: readonly Check<
  RelayAttestation,
  VerifyAttestationOptions,
  AttestationRefusal
>[] = [
  {
    name: "relay",
    refusal: "attestation.wrong_relay",
    test: ({ relay_id, agent_id }, { relayId }) =>
      relay_id === agent_id && (relayId === undefined || relay_id === relayId),
  },
  ...buildSubjectChecks<RelayAttestation, "attestation">("attestation"),
  {
    name: "key",
    refusal: "attestation.key_missing",
    test: (_, { publicKey }) => publicKey !== undefined,
  },
];

const verifyRecord = createRecordVerifier({
  kind: "attestation",
  schema: RelayAttestationSchema,
  checks: attestationChecks,
  listKeys: (_, { publicKey }: VerifyAttestationOptions) =>
    publicKey === undefined ? [] : [publicKey],
});

/** Verifies a relay's attestation; AttestationRefusal lists its codes. Never throws on a value. */
export function verifyAttestation(
  value: unknown,
  options: VerifyAttestationOptions = {},
): Verdict<AttestationRefusal> {
  return verifyRecord(value, options);
}
