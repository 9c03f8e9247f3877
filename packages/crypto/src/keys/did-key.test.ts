import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { didKeyToPublicKey, publicKeyToDidKey } from "./did-key.ts";
import * as native from "../ed25519/ed25519.node.ts";
import * as portable from "../ed25519/ed25519-portable.ts";
import { bytesToHex, EncodingError, hexToBytes, toBase58Btc } from "../formats.ts";

const url = new URL("../../../../vectors/vc/did-key.json", import.meta.url);
const published = JSON.parse(readFileSync(url, "utf8")) as {
  did_key: { did: string; seed: string; public_key: string }[];
};

describe.each(published.did_key)("$did", ({ did, seed, public_key }) => {
  test("each published did:key is the did:key of its published key", () => {
    expect(publicKeyToDidKey(hexToBytes(public_key))).toBe(did);
    expect(bytesToHex(didKeyToPublicKey(did))).toBe(public_key);
  });

  test.each([
    ["node:crypto", native],
    ["tweetnacl", portable],
  ])(
    "each published did:key is derived from its published seed by %s",
    (_, { getPublicKey: publicKeyOf }) => {
      expect(publicKeyToDidKey(publicKeyOf(hexToBytes(seed)))).toBe(did);
    },
  );
});

test("a key of any length but 32 bytes has no did:key", () => {
  expect(() => publicKeyToDidKey(new Uint8Array(31))).toThrow(RangeError);
  expect(() => publicKeyToDidKey(new Uint8Array(33))).toThrow(RangeError);
});

test("a did:key of another length is refused before it is decoded", () => {
  expect(() => didKeyToPublicKey(`did:key:z${"z".repeat(100_000)}`)).toThrow(EncodingError);
});

const didWithType = (first: number, second: number) =>
  `did:key:z${toBase58Btc(Uint8Array.from([first, second, ...new Uint8Array(32).fill(7)]))}`;

test("a did:key of the type of Ed25519 is accepted", () => {
  expect(didKeyToPublicKey(didWithType(0xed, 0x01))).toEqual(new Uint8Array(32).fill(7));
});

test.each([
  ["of X25519", 0xec, 0x01],
  ["whose number begins like that of Ed25519", 0xed, 0x02],
])("a did:key of a type %s is refused", (_, first, second) => {
  expect(() => didKeyToPublicKey(didWithType(first, second))).toThrow(EncodingError);
});
