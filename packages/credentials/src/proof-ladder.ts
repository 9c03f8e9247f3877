import { canonicalize } from "@agent/crypto";
import type { Rung } from "./climb.ts";
import {
  CRYPTOSUITE,
  keyOf,
  PROOF_TYPE,
  type Purpose,
  signatureOf,
  signerOf,
} from "./data-integrity.ts";
import type { Kind, ProofRefusal } from "./refusals.ts";
import type { DataIntegrityProof } from "./schema.ts";

interface Secured {
  readonly "@context": readonly string[];
  readonly proof: DataIntegrityProof;
}

/** What every proof is judged against. */
export interface KnownToProof {
  readonly signedBytes: Uint8Array;
}

/** The checks of a proof, up to its signature; `signer` is the rung that asks whose proof it is. */
export function proofLadder<K extends Kind, Document extends Secured>(
  kind: K,
  purpose: Purpose,
  signer: Extract<keyof Document, string>,
): readonly Rung<Document, KnownToProof, ProofRefusal<K>>[] {
  return [
    {
      name: "suite",
      refusal: `${kind}.suite`,
      holds: ({ proof }) => proof.type === PROOF_TYPE && proof.cryptosuite === CRYPTOSUITE,
    },
    {
      name: "purpose",
      refusal: `${kind}.purpose`,
      holds: ({ proof }) => proof.proofPurpose === purpose,
    },
    {
      name: "key",
      refusal: `${kind}.key_invalid`,
      holds: ({ proof }) => keyOf(proof.verificationMethod) !== null,
    },
    {
      name: signer,
      refusal: `${kind}.wrong_signer`,
      holds: (document) => signerOf(document.proof.verificationMethod) === document[signer],
    },
    {
      name: "proof_context",
      refusal: `${kind}.proof_context`,
      holds: ({ proof, "@context": context }) =>
        proof["@context"] && canonicalize(proof["@context"]) === canonicalize(context),
    },
    {
      name: "signature",
      refusal: `${kind}.signature_invalid`,
      holds: ({ proof }, { signedBytes }) => {
        const signature = signatureOf(proof);
        const publicKey = keyOf(proof.verificationMethod);
        if (signature === null || publicKey === null) return false;
        return { ask: "signature", signature, signedBytes, publicKey };
      },
    },
  ];
}
