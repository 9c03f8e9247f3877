import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { generateKeyPair, sign, verify } from "#ed25519";
import { canonicalize } from "./canonical-json.ts";
import { fromBase64Url, toBase64Url } from "../formats.ts";
import { signJson, verifyJson, verifyJsonAsync } from "./signed-json.ts";

const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(1));
const stranger = generateKeyPair(new Uint8Array(32).fill(2));
const body = { b: 1, a: ["x"], note: undefined };
const signed = signJson(body, secretKey);

describe("signJson", () => {
  test("signJson signs the canonical JSON of the body", () => {
    expect(verify(fromBase64Url(signed.signature), '{"a":["x"],"b":1}', publicKey)).toBe(true);
  });

  test("signJson replaces an existing signature and does not change the body", () => {
    const resigned = signJson(signed, stranger.secretKey);
    expect(resigned).toEqual(signJson(body, stranger.secretKey));
    expect(verifyJson(signed, publicKey)).toBe(true);
  });

  test("signJson throws on a body that has no canonical text", () => {
    expect(() => signJson({ a: Number.NaN }, secretKey)).toThrow(TypeError);
  });
});

const both = async (value: unknown, key = publicKey) => [
  verifyJson(value, key),
  await verifyJsonAsync(value, key),
];

describe("signed JSON values", () => {
  test("a signed value verifies for any JSON body", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (members) =>
        verifyJson(signJson(members, secretKey), publicKey),
      ),
      { numRuns: 50 },
    );
  });

  test("a signed value verifies in any order and notation of its members", async () => {
    const text = `{"signature":"${signed.signature}", "a":["\\u0078"], "b":1.0e0}`;
    expect(await both(JSON.parse(text))).toEqual([true, true]);
  });

  test("a signed value verifies with a __proto__ member that was signed as data", async () => {
    const hostile = JSON.parse('{"__proto__":{"a":1}}') as object;
    expect(await both(signJson(hostile, secretKey))).toEqual([true, true]);
    expect(await both({ ...signJson(hostile, secretKey), ["__proto__"]: 1 })).toEqual([
      false,
      false,
    ]);
  });
});

const { signature } = signed;
const ofArray = toBase64Url(sign(canonicalize([1]), secretKey));

describe("verifyJson refuses", () => {
  test.each<[string, unknown]>([
    ["a changed member", { ...signed, b: 2 }],
    ["an added member", { ...signed, c: null }],
    ["a missing member", { b: 1, signature }],
    ["a missing signature", { ...signed, signature: undefined }],
    ["a signature that is no text", { ...signed, signature: [signature] }],
    ["a padded signature", { ...signed, signature: `${signature}==` }],
    ["an empty signature", { ...signed, signature: "" }],
    ["a short signature", { ...signed, signature: signature.slice(1) }],
    ["a signature outside the alphabet", { ...signed, signature: `+${signature.slice(1)}` }],
    ["a member without canonical text", { ...signed, b: "\ud800" }],
    ["an array", Object.assign([1], { signature: ofArray })],
    ["a text", "signed"],
    ["null", null],
    ["undefined", undefined],
  ])("verifyJson refuses %s", async (_, value) => {
    expect(await both(value)).toEqual([false, false]);
  });

  test("verifyJson refuses another key", async () => {
    expect(await both(signed, stranger.publicKey)).toEqual([false, false]);
    expect(await both(signed, new Uint8Array(31))).toEqual([false, false]);
  });
});
