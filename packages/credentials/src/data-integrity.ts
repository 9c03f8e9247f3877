import {
  canonicalize,
  concatBytes,
  didKeyToPublicKey,
  fromBase58Btc,
  getPublicKey,
  publicKeyToDidKey,
  sha256,
  sign,
  toBase58Btc,
  unlessMalformed,
} from "@agent/crypto";
import { formatDateTime } from "./date-time.ts";
import type { DataIntegrityProof } from "./schema.ts";

export const PROOF_TYPE = "DataIntegrityProof";
export const CRYPTOSUITE = "eddsa-jcs-2022";

const DID_KEY_PREFIX = "did:key:";
const BASE58BTC_PREFIX = "z";

/** The purpose of a proof: a credential is asserted, a presentation authenticates its holder. */
export type ProofPurpose = "assertionMethod" | "authentication";

interface ProofOptions {
  readonly secretKey: Uint8Array;
  /** The did:key of `secretKey`; callers pass it because it is as expensive to compute as a signature. */
  readonly did: string;
  readonly purpose: ProofPurpose;
  /** The time of creation, in ms since the epoch by the signer's clock. */
  readonly now: number;
  readonly challenge?: string | undefined;
  readonly domain?: string | undefined;
}

/** Returns the did:key of a secret key. */
export function deriveDid(secretKey: Uint8Array): string {
  return publicKeyToDidKey(getPublicKey(secretKey));
}

/**
 * Returns the document with its proof, in a new object. Throws CanonicalJsonError on a document
 * that has no canonical JSON.
 */
export function addProof<Document extends { "@context": string[] }>(
  document: Document,
  { secretKey, did, purpose, now, challenge, domain }: ProofOptions,
): Document & { proof: DataIntegrityProof } {
  const proof = {
    type: PROOF_TYPE,
    cryptosuite: CRYPTOSUITE,
    created: formatDateTime(now),
    verificationMethod: buildVerificationMethod(did),
    proofPurpose: purpose,
    ...(challenge !== undefined && { challenge }),
    ...(domain !== undefined && { domain }),
    "@context": document["@context"],
  };
  const signature = sign(hashData({ ...document, proof }), secretKey);
  return {
    ...document,
    proof: { ...proof, proofValue: BASE58BTC_PREFIX + toBase58Btc(signature) },
  };
}

/**
 * Returns the 64 bytes to sign: the hash of the proof without its value, then that of the document.
 */
export function hashData(secured: { readonly proof: object }): Uint8Array {
  // Canonical JSON leaves out members that are undefined.
  const proof = canonicalize({ ...secured.proof, proofValue: undefined });
  const document = canonicalize({ ...secured, proof: undefined });
  return concatBytes(sha256(proof), sha256(document));
}

/** Returns the key of a verification method; null unless it is that of an Ed25519 did:key. */
export function parseVerificationMethod(verificationMethod: string): Uint8Array | null {
  const did = getSignerDid(verificationMethod);
  if (verificationMethod !== buildVerificationMethod(did)) return null;
  return unlessMalformed(() => didKeyToPublicKey(did)) ?? null;
}

/** Returns the DID of a verification method, without its fragment. */
export function getSignerDid(verificationMethod: string): string {
  return verificationMethod.split("#", 1)[0]!;
}

/** Returns the bytes of a base58btc proof value; null for other encodings and for too long ones. */
export function decodeProofValue({ proofValue }: DataIntegrityProof): Uint8Array | null {
  if (!proofValue.startsWith(BASE58BTC_PREFIX)) return null;
  return unlessMalformed(() => fromBase58Btc(proofValue.slice(BASE58BTC_PREFIX.length))) ?? null;
}

function buildVerificationMethod(did: string): string {
  return `${did}#${did.slice(DID_KEY_PREFIX.length)}`;
}
