import { canonicalize, type Check } from "@agent/crypto";
import {
  CRYPTOSUITE,
  parseVerificationMethod,
  PROOF_TYPE,
  type ProofPurpose,
  decodeProofValue,
  getSignerDid,
} from "../data-integrity.ts";
import type { ExternalCheck } from "./external-check.ts";
import type { DocumentKind, ProofRefusal } from "../refusals.ts";
import type { DataIntegrityProof } from "../schema.ts";

interface SecuredDocument {
  readonly "@context": readonly string[];
  readonly proof: DataIntegrityProof;
}

/** The value that every proof is checked against. */
export interface ProofCheckContext {
  readonly signedBytes: Uint8Array;
}

/** Returns the checks of a proof; `signer` is the member that must name the key's owner. */
export function createProofChecks<K extends DocumentKind, Document extends SecuredDocument>(
  kind: K,
  purpose: ProofPurpose,
  signer: Extract<keyof Document, string>,
): readonly Check<Document, ProofCheckContext, ProofRefusal<K>, never, ExternalCheck>[] {
  return [
    {
      name: "suite",
      refusal: `${kind}.suite`,
      test: ({ proof }) => proof.type === PROOF_TYPE && proof.cryptosuite === CRYPTOSUITE,
    },
    {
      name: "purpose",
      refusal: `${kind}.purpose`,
      test: ({ proof }) => proof.proofPurpose === purpose,
    },
    {
      name: "key",
      refusal: `${kind}.key_invalid`,
      test: ({ proof }) => parseVerificationMethod(proof.verificationMethod) !== null,
    },
    {
      name: signer,
      refusal: `${kind}.wrong_signer`,
      test: (document) => getSignerDid(document.proof.verificationMethod) === document[signer],
    },
    {
      name: "proof_context",
      refusal: `${kind}.proof_context`,
      test: ({ proof, "@context": context }) =>
        proof["@context"] && canonicalize(proof["@context"]) === canonicalize(context),
    },
    {
      name: "signature",
      refusal: `${kind}.signature_invalid`,
      test: ({ proof }, { signedBytes }) => {
        const signature = decodeProofValue(proof);
        const publicKey = parseVerificationMethod(proof.verificationMethod);
        if (signature === null || publicKey === null) return false;
        return { kind: "signature", signature, signedBytes, publicKey };
      },
    },
  ];
}
