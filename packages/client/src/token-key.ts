import { hexToBytes, publicKeyOf, toBase64Url } from "@agent/crypto";
import { importJWK } from "jose";

type TokenKey = Exclude<Awaited<ReturnType<typeof importJWK>>, Uint8Array>;

// Importing a key costs about half a verification, so the keys in use are kept.
const KEPT_KEYS = 4_096;
const verifying = new Map<string, Promise<TokenKey | null>>();
const signing = new WeakMap<Uint8Array, Promise<TokenKey>>();

/** The key that checks tokens of `publicKey` (64 hex digits), or null when it cannot check any. */
export function verifyingKey(publicKey: string): Promise<TokenKey | null> {
  const key = verifying.get(publicKey) ?? importKey(hexToBytes(publicKey)).catch(() => null);
  // Set anew at each use, so that the first one is the one that was not asked for longest.
  verifying.delete(publicKey);
  verifying.set(publicKey, key);
  const [oldest] = verifying.keys();
  if (verifying.size > KEPT_KEYS && oldest !== undefined) verifying.delete(oldest);
  return key;
}

/** The key that signs with `secretKey` (a 32-byte seed); it is kept as long as that array lives. */
export function signingKey(secretKey: Uint8Array): Promise<TokenKey> {
  const key = signing.get(secretKey) ?? importKey(publicKeyOf(secretKey), secretKey);
  signing.set(secretKey, key);
  return key;
}

async function importKey(publicKey: Uint8Array, secretKey?: Uint8Array): Promise<TokenKey> {
  const x = toBase64Url(publicKey);
  const d = secretKey === undefined ? {} : { d: toBase64Url(secretKey) };
  const key = await importJWK({ kty: "OKP", crv: "Ed25519", x, ...d }, "EdDSA");
  if (key instanceof Uint8Array) throw new TypeError("an Ed25519 key was imported as a secret");
  return key;
}
