import { didKeyToPublicKey, EncodingError } from "@agent/crypto";
import * as v from "valibot";

/** The relay that signed a record, and so its key: the did:key of an Ed25519 key. */
export const issuer = v.pipe(
  v.string("must be a string"),
  v.check((did) => parseIssuerKey(did) !== null, "must be the did:key of an Ed25519 key"),
);

/** The key that a did:key is; null for what is none. */
export function parseIssuerKey(did: string): Uint8Array | null {
  try {
    return didKeyToPublicKey(did);
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
}
