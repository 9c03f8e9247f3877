import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verify as chosen } from "#ed25519";
import { utf8ToBytes } from "./bytes.ts";
import * as native from "./ed25519/ed25519.node.ts";
import * as portable from "./ed25519/ed25519-portable.ts";
import { isAcceptablePublicKey } from "./ed25519/ed25519-rules.ts";
import { bytesToHex, hexToBytes } from "./formats.ts";

interface Case {
  readonly key: string;
  readonly msg: string;
  readonly sig: string;
  readonly strict: "accept" | "reject";
}

interface Published {
  readonly name: string;
  readonly seed: string;
  readonly key: string;
  readonly msg: string;
  readonly sig: string;
}

function readCases<T = Case>(name: string): T[] {
  const url = new URL(`../../../vectors/ed25519/${name}.jsonl`, import.meta.url);
  return readFileSync(url, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

const isStrictly = ({ strict }: Case) => strict === "accept";
const argumentsOf = ({ sig, msg, key }: Case) =>
  [hexToBytes(sig), hexToBytes(msg), hexToBytes(key)] as const;

const seed = new Uint8Array(32).fill(7);
const message = utf8ToBytes("a message");

describe.each([
  ["node:crypto", native],
  ["tweetnacl", portable],
])(
  "implemented by %s",
  (_, { generateKeyPair, getPublicKey: publicKeyOf, sign, verify, verifyAsync }) => {
    const { publicKey, secretKey } = generateKeyPair(seed);
    const signature = sign(message, secretKey);

    test.each(["wycheproof", "speccheck", "cctv"])(
      "Ed25519 answers every case of %s as the strict rule does",
      (name) => {
        const wrong = readCases(name).filter((c) => verify(...argumentsOf(c)) !== isStrictly(c));
        expect(wrong).toEqual([]);
      },
    );

    test.each(readCases<Published>("rfc8032"))(
      "Ed25519 gives the published key and signature of $name",
      (c) => {
        const secret = hexToBytes(c.seed);
        expect(bytesToHex(publicKeyOf(secret))).toBe(c.key);
        expect(bytesToHex(sign(hexToBytes(c.msg), secret))).toBe(c.sig);
        expect(verify(hexToBytes(c.sig), hexToBytes(c.msg), hexToBytes(c.key))).toBe(true);
      },
    );

    test("asynchronous verification has the same result", async () => {
      const cases = readCases("speccheck");
      const answers = await Promise.all(cases.map((c) => verifyAsync(...argumentsOf(c))));
      expect(answers).toEqual(cases.map(isStrictly));
      expect(await verifyAsync(signature, message, publicKey)).toBe(true);
    });

    test("a text is signed as its UTF-8 bytes", async () => {
      expect(sign("a message", secretKey)).toEqual(signature);
      expect(verify(signature, "a message", publicKey)).toBe(true);
      expect(await verifyAsync(signature, "a message", publicKey)).toBe(true);
      expect(verify(signature, "a massage", publicKey)).toBe(false);
    });

    test("a signature with one bit changed in R or in S is refused", () => {
      for (let i = 0; i < 64; i += 7) {
        expect(verify(signature.with(i, signature[i]! ^ 1), message, publicKey)).toBe(false);
      }
    });

    test("keys and signatures of a wrong length do not verify", async () => {
      for (const length of [0, 31, 33, 63, 65]) {
        const bytes = new Uint8Array(length).fill(9);
        expect(verify(bytes, message, publicKey)).toBe(false);
        expect(verify(signature, message, bytes)).toBe(false);
        expect(await verifyAsync(signature, message, bytes)).toBe(false);
      }
    });

    test("each key pair that is generated without a seed is different from all others", () => {
      const [one, other] = [generateKeyPair(), generateKeyPair()];
      expect(one.secretKey).toHaveLength(32);
      expect(one.secretKey).not.toEqual(other.secretKey);
      expect(verify(sign(message, one.secretKey), message, one.publicKey)).toBe(true);
    });

    test("a generated key pair keeps its own copy of the seed", () => {
      const mine = seed.slice();
      const pair = generateKeyPair(mine);
      mine.fill(0);
      expect(pair.secretKey).toEqual(seed);
    });

    test("a secret key that is not a seed of 32 bytes is refused with an exception", () => {
      for (const length of [0, 31, 64]) {
        expect(() => sign(message, new Uint8Array(length))).toThrow(RangeError);
        expect(() => publicKeyOf(new Uint8Array(length))).toThrow(RangeError);
        expect(() => generateKeyPair(new Uint8Array(length))).toThrow(RangeError);
      }
    });

    test("keys and signatures are plain byte arrays", () => {
      for (const bytes of [publicKey, secretKey, signature]) {
        expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
      }
    });
  },
);

test("Node uses the native implementation", () => {
  expect(chosen).toBe(native.verify);
});

test("the native implementation gives the same results on the thread pool", async () => {
  const cases = ["wycheproof", "speccheck", "cctv"].flatMap((name) => readCases(name));
  const answers = await Promise.all(cases.map((c) => native.verifyAsync(...argumentsOf(c))));
  expect(cases.filter((c, i) => answers[i] !== isStrictly(c))).toEqual([]);
});

test("a change of the arguments after an asynchronous call does not change its result", async () => {
  const { publicKey, secretKey } = native.generateKeyPair(seed);
  const own = message.slice();
  const signature = native.sign(own, secretKey);
  const answer = native.verifyAsync(signature, own, publicKey);
  own.fill(0);
  signature.fill(0);
  publicKey.fill(0);
  expect(await answer).toBe(true);
});

test("both implementations compute the same keys and signatures", () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(seeds, bytes, (secret, text) => {
      expect(native.getPublicKey(secret)).toEqual(portable.getPublicKey(secret));
      expect(native.sign(text, secret)).toEqual(portable.sign(text, secret));
    }),
    { numRuns: 20 },
  );
});

describe("the acceptable public keys", () => {
  const p = (last: number) => `${last.toString(16)}${"ff".repeat(30)}`;

  test.each([
    ["acceptable if it is 32 bytes", bytesToHex(native.getPublicKey(seed)), true],
    ["acceptable even if it is not a point of the curve", `02${"00".repeat(31)}`, true],
    ["not acceptable with 31 bytes", "07".repeat(31), false],
    ["not acceptable with 33 bytes", "07".repeat(33), false],
    ["not acceptable if it is of small order with y = 0 spelt as p", `${p(0xed)}7f`, false],
    ["not acceptable if it is of small order with y = 1 spelt as p + 1", `${p(0xee)}ff`, false],
    ["not acceptable if it is of small order with the sign of a zero x", `${p(0xec)}ff`, false],
  ])("a public key is %s", (_, hex, acceptable) => {
    expect(isAcceptablePublicKey(hexToBytes(hex))).toBe(acceptable);
  });
});
