import * as native from "node:crypto";
import { promisify } from "node:util";
import type * as portable from "./ed25519-portable.ts";
import type { KeyPair } from "./ed25519-portable.ts";
import { assertSecretKey, isStrictlyEncoded } from "./ed25519-rules.ts";
import { createKeyCache } from "../keys/key-cache.node.ts";

const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

// Creating a key object costs about as much as using it.
const importPublicKey = createKeyCache(4096, (publicKey) =>
  native.createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, publicKey]),
    format: "der",
    type: "spki",
  }),
);
const importSecretKey = createKeyCache(256, (secretKey) =>
  native.createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, assertSecretKey(secretKey)]),
    format: "der",
    type: "pkcs8",
  }),
);

const verifyOnThreadPool = promisify(native.verify);

export function generateKeyPair(seed: Uint8Array = native.randomBytes(32)): KeyPair {
  return { publicKey: getPublicKey(seed), secretKey: Uint8Array.from(seed) };
}

export function getPublicKey(secretKey: Uint8Array): Uint8Array {
  const spki = native
    .createPublicKey(importSecretKey(secretKey))
    .export({ format: "der", type: "spki" });
  return new Uint8Array(spki.subarray(SPKI_PREFIX.length));
}

export function sign(message: Uint8Array | string, secretKey: Uint8Array): Uint8Array {
  return new Uint8Array(native.sign(null, toBytes(message), importSecretKey(secretKey)));
}

export function verify(
  signature: Uint8Array,
  message: Uint8Array | string,
  publicKey: Uint8Array,
): boolean {
  return (
    isStrictlyEncoded(signature, publicKey) &&
    native.verify(null, toBytes(message), importPublicKey(publicKey), signature)
  );
}

export function verifyAsync(
  signature: Uint8Array,
  message: Uint8Array | string,
  publicKey: Uint8Array,
): Promise<boolean> {
  return isStrictlyEncoded(signature, publicKey)
    ? verifyOnThreadPool(null, toBytes(message), importPublicKey(publicKey), signature)
    : Promise.resolve(false);
}

function toBytes(message: Uint8Array | string): Uint8Array {
  return typeof message === "string" ? Buffer.from(message, "utf8") : message;
}

({ generateKeyPair, getPublicKey, sign, verify, verifyAsync }) satisfies typeof portable;
