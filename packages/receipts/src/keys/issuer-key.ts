import { bytesToHex, didKeyToPublicKey, unlessMalformed } from "@agent/crypto";
import * as v from "valibot";

/** The did:key of the relay that signed a record. */
export const issuer = v.pipe(
  v.string("must be a string"),
  v.check(
    (did) => unlessMalformed(() => didKeyToPublicKey(did)) !== undefined,
    "must be the did:key of an Ed25519 key",
  ),
);

/** Returns the key of a record's issuer as 64 hex digits. */
export function getIssuerKey(record: { readonly issuer: string }): string {
  return bytesToHex(didKeyToPublicKey(record.issuer));
}
