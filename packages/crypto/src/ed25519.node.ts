import * as native from "node:crypto";
import type { KeyObject } from "node:crypto";
import type * as portable from "./ed25519-portable.ts";
import type { KeyPair } from "./ed25519-portable.ts";
import { isStrict } from "./ed25519-rules.ts";
import { keyCache } from "./key-cache.ts";

const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

// Making a key object costs about as much as using it.
const publicKeyObject = keyCache(4096, (publicKey) =>
  native.createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, publicKey]),
    format: "der",
    type: "spki",
  }),
);
const secretKeyObject = keyCache(256, (secretKey) =>
  native.createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seedOf(secretKey)]),
    format: "der",
    type: "pkcs8",
  }),
);

export function generateKeyPair(seed: Uint8Array = native.randomBytes(32)): KeyPair {
  return { publicKey: publicKeyOf(seed), secretKey: Uint8Array.from(seed) };
}

export function publicKeyOf(secretKey: Uint8Array): Uint8Array {
  const spki = native
    .createPublicKey(secretKeyObject(secretKey))
    .export({ format: "der", type: "spki" });
  return new Uint8Array(spki.subarray(SPKI_PREFIX.length));
}

export function sign(message: Uint8Array | string, secretKey: Uint8Array): Uint8Array {
  return new Uint8Array(native.sign(null, bytesOf(message), secretKeyObject(secretKey)));
}

export function verify(
  signature: Uint8Array,
  message: Uint8Array | string,
  publicKey: Uint8Array,
): boolean {
  return (
    isStrict(signature, publicKey) &&
    native.verify(null, bytesOf(message), publicKeyObject(publicKey), signature)
  );
}

export function verifyAsync(
  signature: Uint8Array,
  message: Uint8Array | string,
  publicKey: Uint8Array,
): Promise<boolean> {
  if (!isStrict(signature, publicKey)) return Promise.resolve(false);
  const key: KeyObject = publicKeyObject(publicKey);
  return new Promise((resolve, reject) => {
    native.verify(null, bytesOf(message), key, signature, (error, valid) => {
      if (error) reject(error);
      else resolve(valid);
    });
  });
}

function seedOf(secretKey: Uint8Array): Uint8Array {
  if (secretKey.length !== 32) throw new RangeError("a secret key is a seed of 32 bytes");
  return secretKey;
}

function bytesOf(message: Uint8Array | string): Uint8Array {
  return typeof message === "string" ? Buffer.from(message, "utf8") : message;
}

({ generateKeyPair, publicKeyOf, sign, verify, verifyAsync }) satisfies typeof portable;
