import { BoundedMap, hexToBytes, getPublicKey, toBase64Url } from "@agent/crypto";
import { importJWK } from "jose";

/** A platform key (WebCrypto), which need not be exportable. */
export type TokenKey = Exclude<Awaited<ReturnType<typeof importJWK>>, Uint8Array>;

// Importing a key costs about half a verification, so keys in use are cached.
const CACHE_SIZE = 4_096;
const verifyingKeys = new BoundedMap<string, Promise<TokenKey | null>>(CACHE_SIZE);
const signingKeys = new WeakMap<Uint8Array, Promise<TokenKey>>();

/** Imports the key that verifies tokens of `publicKey` (64 hex digits); null if it is not a valid key. */
export function importVerifyingKey(publicKey: string): Promise<TokenKey | null> {
  const key = verifyingKeys.get(publicKey) ?? importKey(hexToBytes(publicKey)).catch(() => null);
  // Set again at each use, so that the least recently used key is dropped first.
  void verifyingKeys.set(publicKey, key);
  return key;
}

/** Imports the key that signs with `secretKey` (a 32-byte seed); cached as long as that array exists. */
export function importSigningKey(secretKey: Uint8Array | TokenKey): Promise<TokenKey> {
  if (!(secretKey instanceof Uint8Array)) return Promise.resolve(secretKey);
  const key = signingKeys.get(secretKey) ?? importKey(getPublicKey(secretKey), secretKey);
  signingKeys.set(secretKey, key);
  return key;
}

async function importKey(publicKey: Uint8Array, secretKey?: Uint8Array): Promise<TokenKey> {
  const x = toBase64Url(publicKey);
  const d = secretKey === undefined ? {} : { d: toBase64Url(secretKey) };
  const key = await importJWK({ kty: "OKP", crv: "Ed25519", x, ...d }, "EdDSA");
  if (key instanceof Uint8Array) throw new TypeError("an Ed25519 key was imported as a secret");
  return key;
}
