import nacl from "tweetnacl";
import { utf8ToBytes } from "../bytes.ts";
import { assertSecretKey, isStrictlyEncoded } from "./ed25519-rules.ts";

/** A key pair; the secret key is the 32-byte seed of RFC 8032. */
export interface KeyPair {
  readonly publicKey: Uint8Array;
  readonly secretKey: Uint8Array;
}

/** A key pair of the given 32-byte seed, or of a random one. */
export function generateKeyPair(seed: Uint8Array = nacl.randomBytes(32)): KeyPair {
  return { publicKey: getPublicKey(seed), secretKey: Uint8Array.from(seed) };
}

/** The 32-byte public key of a secret key; throws unless that is 32 bytes. */
export function getPublicKey(secretKey: Uint8Array): Uint8Array {
  return expandSeed(secretKey).publicKey;
}

/** The 64-byte Ed25519 signature of bytes, or of the UTF-8 of a text. */
export function sign(message: Uint8Array | string, secretKey: Uint8Array): Uint8Array {
  return nacl.sign.detached(toBytes(message), expandSeed(secretKey).secretKey);
}

/**
 * Whether the signature is good under the strict rule: canonical S, R and key, neither point of
 * small order, and the cofactorless equation. Bytes of any length are answered, never thrown at.
 */
export function verify(
  signature: Uint8Array,
  message: Uint8Array | string,
  publicKey: Uint8Array,
): boolean {
  return (
    isStrictlyEncoded(signature, publicKey) &&
    nacl.sign.detached.verify(toBytes(message), signature, publicKey)
  );
}

/** As `verify`; on a server it runs on the thread pool and leaves the event loop free. */
export function verifyAsync(
  signature: Uint8Array,
  message: Uint8Array | string,
  publicKey: Uint8Array,
): Promise<boolean> {
  return Promise.resolve(verify(signature, message, publicKey));
}

// tweetnacl signs with the 64 bytes of seed and public key.
function expandSeed(secretKey: Uint8Array): KeyPair {
  return nacl.sign.keyPair.fromSeed(assertSecretKey(secretKey));
}

function toBytes(message: Uint8Array | string): Uint8Array {
  return typeof message === "string" ? utf8ToBytes(message) : message;
}
