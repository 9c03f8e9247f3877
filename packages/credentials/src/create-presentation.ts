import { deriveDid, addProof } from "./data-integrity.ts";
import { CREDENTIAL_LIMITS } from "./limits.ts";
import {
  CREDENTIALS_CONTEXT,
  type VerifiableCredential,
  type VerifiablePresentation,
} from "./schema.ts";

/** The content of a presentation and the key that signs it. */
export interface CreatePresentationOptions {
  /** At most 256. They are included as they are; the verifier checks them. */
  readonly credentials: readonly VerifiableCredential[];
  /** The holder's 32-byte seed. */
  readonly secretKey: Uint8Array;
  /** The time of creation, in ms since the epoch by the holder's clock. */
  readonly now: number;
  /** The verifier's challenge; it becomes the proof's `challenge`. */
  readonly challenge?: string | undefined;
  /** The audience of the presentation; it becomes the proof's `domain`. */
  readonly audience?: string | undefined;
}

/**
 * Creates a presentation of credentials with an `authentication` proof of the did:key of
 * `secretKey` (specification, Credentials). Throws RangeError on more than 256 credentials.
 */
export function createPresentation({
  credentials,
  secretKey,
  now,
  challenge,
  audience,
}: CreatePresentationOptions): VerifiablePresentation {
  if (credentials.length > CREDENTIAL_LIMITS.maxCredentials) {
    throw new RangeError(
      `credentials must contain at most ${CREDENTIAL_LIMITS.maxCredentials} entries`,
    );
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
