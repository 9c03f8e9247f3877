import { toBase64 } from "@agent/crypto";
import { expect, test } from "vitest";
import {
  buildVerifierKey,
  formatVerifierKey,
  KEY_TYPES,
  parseVerifierKey,
  type VerifierKey,
} from "./verifier-key.ts";

const key = buildVerifierKey("log.example", KEY_TYPES.log, new Uint8Array(32).fill(7));
/** Formats a key whose id matches, whatever its other parts are. */
const format = (change: Partial<VerifierKey>) => {
  const { name, type, publicKey } = { ...key, ...change };
  return formatVerifierKey({ name, type, publicKey, keyId: idOf(name, type, publicKey) });
};
const idOf = (name: string, type: VerifierKey["type"], publicKey: Uint8Array) => {
  const isBuildable = /^[^\s+]+$/u.test(name);
  return isBuildable ? buildVerifierKey(name, type, publicKey).keyId : key.keyId;
};

test.each<[string, boolean, string]>([
  ["name, id and key", true, format({})],
  ["the type of a witness", true, format({ type: KEY_TYPES.witness })],
  ["another type", false, format({ type: 2 as never })],
  ["a key of 31 bytes", false, format({ publicKey: new Uint8Array(31) })],
  ["a key of 33 bytes", false, format({ publicKey: new Uint8Array(33) })],
  ["no name", false, format({ name: "" })],
  ["a blank in its name", false, format({ name: "log example" })],
  ["the id of another name", false, format({}).replace("log.example", "other.example")],
  ["its parts only", false, `log.example+${toBase64(key.publicKey)}`],
  ["more after the key", false, `${format({})}+more`],
])("a verifier key with %s is accepted: %s", (_, ok, text) => {
  expect(parseVerifierKey(text).ok).toBe(ok);
});
