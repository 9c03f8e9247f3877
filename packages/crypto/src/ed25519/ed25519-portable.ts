import nacl from "tweetnacl";
import { utf8ToBytes } from "../bytes.ts";
import { assertSecretKey, isStrictlyEncoded } from "./ed25519-rules.ts";

/** A key pair; the secret key is the 32-byte seed of RFC 8032. */
export interface KeyPair {
  readonly publicKey: Uint8Array;
  readonly secretKey: Uint8Array;
}

/** Generates a key pair from a 32-byte seed, random by default. */
export function generateKeyPair(seed: Uint8Array = nacl.randomBytes(32)): KeyPair {
  return { publicKey: getPublicKey(seed), secretKey: Uint8Array.from(seed) };
}

/**
 * Returns the 32-byte public key of a secret key. Throws RangeError unless the key has 32 bytes.
 */
export function getPublicKey(secretKey: Uint8Array): Uint8Array {
  return expandSeed(secretKey).publicKey;
}

/** Signs bytes, or the UTF-8 of a text, and returns the 64-byte Ed25519 signature. */
export function sign(message: Uint8Array | string, secretKey: Uint8Array): Uint8Array {
  return nacl.sign.detached(toBytes(message), expandSeed(secretKey).secretKey);
}

/**
 * Returns whether the signature is valid under the strict rule: canonical S, R and key, neither
 * point of small order, and the cofactorless equation. Never throws, whatever the lengths of the
 * bytes.
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

/**
 * Verifies like `verify`; on a server it uses the thread pool and does not block the event loop.
 */
export function verifyAsync(
  signature: Uint8Array,
  message: Uint8Array | string,
  publicKey: Uint8Array,
): Promise<boolean> {
  return Promise.resolve(verify(signature, message, publicKey));
}

// tweetnacl expects the 64 bytes of seed and public key.
function expandSeed(secretKey: Uint8Array): KeyPair {
  return nacl.sign.keyPair.fromSeed(assertSecretKey(secretKey));
}

function toBytes(message: Uint8Array | string): Uint8Array {
  return typeof message === "string" ? utf8ToBytes(message) : message;
}
