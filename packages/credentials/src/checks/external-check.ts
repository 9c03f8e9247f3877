import type { VerifiableCredential } from "../schema.ts";

/** A check that the verifier performs itself: immediately, off the event loop, or with a database query. */
export type ExternalCheck =
  | {
      readonly kind: "signature";
      readonly signature: Uint8Array;
      readonly signedBytes: Uint8Array;
      readonly publicKey: Uint8Array;
    }
  | { readonly kind: "not_revoked"; readonly credential: VerifiableCredential };
