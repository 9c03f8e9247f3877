import { deriveDid, addProof } from "./data-integrity.ts";
import { CREDENTIAL_LIMITS } from "./limits.ts";
import {
  CREDENTIALS_CONTEXT,
  type VerifiableCredential,
  type VerifiablePresentation,
} from "./schema.ts";

export interface CreatePresentationOptions {
  /** At most 256; they are shown as they are and verified by whom they are shown to. */
  readonly credentials: readonly VerifiableCredential[];
  /** The holder's 32-byte seed. */
  readonly secretKey: Uint8Array;
  /** When the presentation is made, in ms since the epoch. */
  readonly now: number;
  /** What the verifier asked to be signed; it becomes the proof's `challenge`. */
  readonly challenge?: string | undefined;
  /** Whom the presentation is made for; it becomes the proof's `domain`. */
  readonly audience?: string | undefined;
}

/**
 * A presentation of credentials under an `authentication` proof of the did:key of `secretKey`
 * (specification, Credentials). Throws RangeError on more than 256 credentials.
 */
export function createPresentation({
  credentials,
  secretKey,
  now,
  challenge,
  audience,
}: CreatePresentationOptions): VerifiablePresentation {
  if (credentials.length > CREDENTIAL_LIMITS.maxCredentials) {
    throw new RangeError(`more than ${CREDENTIAL_LIMITS.maxCredentials} credentials`);
  }
  const did = deriveDid(secretKey);
  const presentation = {
    "@context": [CREDENTIALS_CONTEXT],
    type: ["VerifiablePresentation"],
    holder: did,
    verifiableCredential: [...credentials],
  };
  return addProof(presentation, {
    secretKey,
    did,
    purpose: "authentication",
    now,
    challenge,
    domain: audience,
  });
}
