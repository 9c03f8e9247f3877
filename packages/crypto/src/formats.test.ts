import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { equalBytes } from "./bytes.ts";
import { didKeyToPublicKey, publicKeyToDidKey } from "./keys/did-key.ts";
import { isAcceptablePublicKey } from "./ed25519/ed25519-rules.ts";
import {
  bytesToHex,
  EncodingError,
  fromBase58Btc,
  fromBase64,
  fromBase64Url,
  hexToBytes,
  toBase58Btc,
  toBase64,
  toBase64Url,
} from "./formats.ts";
import { unlessMalformed } from "./unless-malformed.ts";

interface Case {
  readonly id: number;
  readonly kind: string;
  readonly input: string;
  readonly expect: "accept" | "reject";
  readonly hex?: string;
  readonly why: string;
}

const vectors = new URL("../../../vectors/", import.meta.url);
const cases = JSON.parse(readFileSync(new URL("own/encodings.json", vectors), "utf8")) as Case[];
const didKeys = JSON.parse(readFileSync(new URL("vc/did-key.json", vectors), "utf8")) as {
  base58btc: { hex: string; base58: string }[];
};

const ofLength = (length: number, decode: (text: string) => Uint8Array) => (text: string) => {
  const bytes = decode(text);
  if (bytes.length !== length) throw new EncodingError(`not ${length} bytes`);
  return bytes;
};

const registered = (text: string) => {
  const key = hexToBytes(text);
  if (!isAcceptablePublicKey(key)) throw new EncodingError("not acceptable");
  return key;
};

const kinds: Record<string, [(text: string) => Uint8Array, (bytes: Uint8Array) => string]> = {
  base58btc: [fromBase58Btc, toBase58Btc],
  "signature-base64url": [ofLength(64, fromBase64Url), toBase64Url],
  "public-key-hex": [ofLength(32, hexToBytes), bytesToHex],
  "did-key": [didKeyToPublicKey, publicKeyToDidKey],
  "public-key-hex-registration": [registered, bytesToHex],
};

describe("the published encoding cases", () => {
  test("each published encoding case is of a kind that is tested", () => {
    expect(new Set(cases.map(({ kind }) => kind))).toEqual(new Set(Object.keys(kinds)));
  });

  test.each(cases.filter((c) => c.expect === "accept"))("$id $kind: $why is decoded", (c) => {
    const [decode, encode] = kinds[c.kind]!;
    expect(bytesToHex(decode(c.input))).toBe(c.hex);
    expect(encode(decode(c.input))).toBe(c.input);
  });

  test.each(cases.filter((c) => c.expect === "reject"))("$id $kind: $why is refused", (c) => {
    expect(() => kinds[c.kind]![0](c.input)).toThrow(EncodingError);
  });

  test.each(didKeys.base58btc)("$hex is $base58 in base58btc", ({ hex, base58 }) => {
    expect(toBase58Btc(hexToBytes(hex))).toBe(base58);
    expect(bytesToHex(fromBase58Btc(base58))).toBe(hex);
  });
});

describe.each([
  { name: "hex", encode: bytesToHex, decode: hexToBytes, digits: "0123456789abcdefAFg x" },
  { name: "base64url", encode: toBase64Url, decode: fromBase64Url, digits: "ABQgwz059-_+/= \n" },
  { name: "base64", encode: toBase64, decode: fromBase64, digits: "ABQgwz059+/-_= \n" },
  { name: "base58btc", encode: toBase58Btc, decode: fromBase58Btc, digits: "123ABCyz0OIl+ é" },
])("$name", ({ encode, decode, digits }) => {
  const bytes = fc.uint8Array({ maxLength: 80 });
  const text = fc.string({ unit: fc.constantFrom(...digits.split("")), maxLength: 20 });

  test("encoded bytes are decoded to the same bytes", () => {
    fc.assert(fc.property(bytes, (b) => equalBytes(decode(encode(b)), b)));
  });

  test("a decoded text is encoded to the same text", () => {
    fc.assert(
      fc.property(text, (t) => {
        const read = unlessMalformed(() => decode(t));
        expect(read === undefined ? t : encode(read)).toBe(t);
      }),
    );
  });
});

test("hex agrees with an independent encoder", () => {
  fc.assert(fc.property(fc.uint8Array(), (b) => bytesToHex(b) === Buffer.from(b).toString("hex")));
});

test("base64url agrees with an independent encoder", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (b) => toBase64Url(b) === Buffer.from(b).toString("base64url")),
  );
});

test("base64 agrees with an independent encoder", () => {
  fc.assert(fc.property(fc.uint8Array(), (b) => toBase64(b) === Buffer.from(b).toString("base64")));
});

test.each(["AA", "AA=", "A===", "====", "AB==", "AAA-", "AA==\n", " AAA", "AAAA===="])(
  "base64 %j is refused",
  (text) => {
    expect(() => fromBase64(text)).toThrow(EncodingError);
  },
);

test.each(["AB", "0F", "é0", "0é", "abc", "0x", " 0", "٠٠"])("hex %j is refused", (text) => {
  expect(() => hexToBytes(text)).toThrow(EncodingError);
});

test("base58btc of 128 digits is decoded, longer ones are refused before decoding", () => {
  expect(fromBase58Btc("z".repeat(128)).length).toBeGreaterThan(90);
  expect(() => fromBase58Btc("z".repeat(129))).toThrow(EncodingError);
  expect(() => fromBase58Btc("1".repeat(40_000))).toThrow(EncodingError);
});

test("an error message never repeats the input", () => {
  for (const decode of [hexToBytes, fromBase64Url, fromBase64, fromBase58Btc, didKeyToPublicKey]) {
    expect(() => decode("secret!")).toThrow(/^(?!.*secret!)/);
  }
});
