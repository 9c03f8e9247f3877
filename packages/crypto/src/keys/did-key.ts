import { concatBytes } from "../bytes.ts";
import { EncodingError, fromBase58Btc, hexToBytes, toBase58Btc } from "../formats.ts";

const PREFIX = "did:key:z";
const ED25519_MULTICODEC = Uint8Array.of(0xed, 0x01);
const DID_LENGTH = 56;

/** Returns the did:key of a 32-byte Ed25519 public key. Throws RangeError on another length. */
export function publicKeyToDidKey(publicKey: Uint8Array): string {
  if (publicKey.length !== 32) throw new RangeError("publicKey must be 32 bytes");
  return PREFIX + toBase58Btc(concatBytes(ED25519_MULTICODEC, publicKey));
}

/** Returns the did:key of a public key that is given as 64 hex digits. Throws EncodingError on other digits. */
export function hexToDidKey(publicKey: string): string {
  return publicKeyToDidKey(hexToBytes(publicKey));
}

/**
 * Returns the 32-byte public key of an Ed25519 did:key. Throws EncodingError on other methods,
 * other key types, fragments and any other length. Does not check whether the key is acceptable.
 */
export function didKeyToPublicKey(did: string): Uint8Array {
  if (did.length === DID_LENGTH && did.startsWith(PREFIX)) {
    const bytes = fromBase58Btc(did.slice(PREFIX.length));
    if (bytes.length === 34 && bytes[0] === 0xed && bytes[1] === 0x01) return bytes.slice(2);
  }
  throw new EncodingError("not the did:key of an Ed25519 key");
}
