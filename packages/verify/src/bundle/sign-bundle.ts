import { canonicalize, hexToBytes, publicKeyToDidKey, signJson, SUITE } from "@agent/crypto";
import { signAttestation } from "@agent/receipts";
import { getReceiptHash } from "./get-receipt-hash.ts";
import { BUNDLE_SPEC, type EvidenceBundle } from "./schema.ts";

/** What a relay knows of a finished task; the rest of the bundle follows from it. */
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
  | "credential"
> {
  /** When the relay took the receipt, in ms. */
  readonly received_at: number;
}

/** The relay that vouches. */
export interface BundleSigner {
  readonly relayId: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  /** The 32-byte seed. */
  readonly secretKey: Uint8Array;
  /** The steps that led to its key, oldest first. */
  readonly succession?: readonly object[];
  /** The relay's clock in ms. */
  readonly now: number;
}

/**
 * The bundle of a finished task, with the relay's attestation of its receipt and its signature over
 * all other members. Throws CanonicalJsonError when a part has no canonical JSON inside a bundle.
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
      // A clock that was set back in between must not make the relay contradict itself.
      attested_at: Math.max(now, received_at),
    },
    secretKey,
  );
  const body = {
    ...parts,
    spec: BUNDLE_SPEC,
    relay_id: relayId,
    issuer: publicKeyToDidKey(hexToBytes(publicKey)),
    ...(succession.length > 0 && { relay_succession: succession }),
    created_at: now,
    attestation,
    suite: SUITE,
  };
  return signJson(body, secretKey);
}

/** The one text of a bundle, to be stored and sent byte for byte. */
export function formatBundle(bundle: EvidenceBundle): string {
  return canonicalize(bundle);
}
