import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesToHex } from "./formats.ts";
import * as native from "./sha256/sha256.node.ts";
import * as portable from "./sha256/sha256-portable.ts";

// FIPS 180-4 examples.
const PUBLISHED = [
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  ],
] as const;

// One character of each length in UTF-8.
const text = fc.string({ unit: fc.constantFrom("a", "\u0000", "é", "€", "\u{1f600}") });

describe.each([
  ["node:crypto", native],
  ["noble", portable],
])("SHA-256 implemented by %s", (_, { sha256, sha256Hex }) => {
  test.each(PUBLISHED)("the hash of %j is the published one", (text, digest) => {
    expect(sha256Hex(text)).toBe(digest);
    expect(bytesToHex(sha256(text))).toBe(digest);
  });

  test("a text is hashed as its UTF-8 bytes", () => {
    fc.assert(
      fc.property(text, (t) => {
        expect(sha256Hex(t)).toBe(sha256Hex(Uint8Array.from(Buffer.from(t))));
      }),
    );
  });

  test("a hash is a plain Uint8Array", () => {
    expect(Object.getPrototypeOf(sha256("abc"))).toBe(Uint8Array.prototype);
  });
});

test("both implementations compute the same hashes, even of lone surrogates", () => {
  const data = fc.oneof(fc.uint8Array(), text, fc.constant("a\ud800"));
  fc.assert(fc.property(data, (d) => native.sha256Hex(d) === portable.sha256Hex(d)));
});
