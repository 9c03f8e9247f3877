import { canonicalize, hexToDidKey, signJson, SUITE } from "@agent/crypto";
import { signAttestation } from "@agent/receipts";
import { getReceiptHash } from "./get-receipt-hash.ts";
import { BUNDLE_LEVELS, BUNDLE_SPEC, type EvidenceBundle } from "./schema.ts";

/**
 * The relay's records of a finished task; the other members of the bundle are derived from them.
 */
export interface Evidence extends Pick<
  EvidenceBundle,
  | "task"
  | "routing"
  | "receipt"
  | "erased"
  | "signers"
  | "nested_tasks"
  | "peer"
  | "settlements"
  | "no_shows"
  | "postings"
  | "inspection"
  | "credential"
  | "log"
> {
  /** The time at which the relay received the receipt, in ms. */
  readonly received_at: number;
}

/** The relay that signs. */
export interface BundleSigner {
  readonly relayId: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  /** The 32-byte seed. */
  readonly secretKey: Uint8Array;
  /** The succession records of its key, oldest first. */
  readonly succession?: readonly object[];
  /** The relay's clock in ms. */
  readonly now: number;
}

/**
 * Builds the bundle of a finished task, with the relay's attestation of its receipt and its signature over
 * all other members. Throws CanonicalJsonError if a part has no canonical JSON or is nested deeper than a
 * request may be.
 */
export function signBundle(evidence: Evidence, relay: BundleSigner): EvidenceBundle {
  const { relayId, publicKey, secretKey, succession = [], now } = relay;
  const { received_at, ...parts } = evidence;
  const attestation = signAttestation(
    {
      relay_id: relayId,
      task_id: parts.task.task_id,
      receipt_hash: getReceiptHash(parts),
      received_at,
      // The relay must not contradict itself if its clock was set back in between.
      attested_at: Math.max(now, received_at),
    },
    secretKey,
  );
  const body = {
    ...parts,
    spec: BUNDLE_SPEC,
    relay_id: relayId,
    issuer: hexToDidKey(publicKey),
    ...(succession.length > 0 && { relay_succession: succession }),
    created_at: now,
    attestation,
    suite: SUITE,
  };
  return signJson(body, secretKey, BUNDLE_LEVELS);
}

/** Returns the only valid text of a bundle, which must be stored and sent byte for byte. */
export function formatBundle(bundle: EvidenceBundle): string {
  return canonicalize(bundle, BUNDLE_LEVELS);
}
