import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hexToBytes } from "@agent/crypto";
import { afterAll, describe, expect, test } from "vitest";

// The console is no package that others import; this is the step of its build.
const step = new URL("../apps/console/scripts/drop-ciphers.ts", import.meta.url).href;
const { dropCiphers } = (await import(step)) as { dropCiphers: (source: string) => string };
const inCrypto = createRequire(new URL("../packages/crypto/package.json", import.meta.url));
const source = readFileSync(inCrypto.resolve("tweetnacl"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "drop-ciphers-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Nacl {
  readonly box?: unknown;
  readonly secretbox?: unknown;
  readonly sign: {
    readonly detached: {
      (message: Uint8Array, secretKey: Uint8Array): Uint8Array;
      verify(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean;
    };
    readonly keyPair: {
      fromSeed(seed: Uint8Array): { publicKey: Uint8Array; secretKey: Uint8Array };
    };
  };
}

function load(name: string, text: string): Nacl {
  const file = join(folder, name);
  writeFileSync(file, text);
  return createRequire(import.meta.url)(file) as Nacl;
}

interface Case {
  readonly seed: string;
  readonly key: string;
  readonly msg: string;
  readonly sig: string;
  readonly strict: "accept" | "reject";
}

const readCases = (name: string) =>
  readFileSync(new URL(`../vectors/ed25519/${name}.jsonl`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Case);

const toArguments = ({ msg, sig, key }: Case) =>
  [hexToBytes(msg), hexToBytes(sig), hexToBytes(key)] as const;

describe("tweetnacl without encryption", () => {
  const whole = load("whole.cjs", source);
  const cut = load("cut.cjs", dropCiphers(source));

  test("the pages' tweetnacl gives the same verdict on doubtful signatures as the complete library", () => {
    const cases = readCases("speccheck").map(toArguments);
    const answersOf = ({ sign }: Nacl) => cases.map((each) => sign.detached.verify(...each));
    expect(answersOf(cut)).toEqual(answersOf(whole));
    expect(new Set(answersOf(cut))).toEqual(new Set([true, false]));
  });

  test("the pages' tweetnacl accepts every valid signature of wycheproof", () => {
    const good = readCases("wycheproof").filter(({ strict }) => strict === "accept");
    expect(good.length).toBeGreaterThan(10);
    expect(good.filter((each) => !cut.sign.detached.verify(...toArguments(each)))).toEqual([]);
  });

  test("the pages' tweetnacl signs as RFC 8032 does", () => {
    const cases = readCases("rfc8032");
    expect(cases).not.toEqual([]);
    for (const { seed, msg, sig } of cases) {
      const { secretKey } = cut.sign.keyPair.fromSeed(hexToBytes(seed));
      expect(cut.sign.detached(hexToBytes(msg), secretKey)).toEqual(hexToBytes(sig));
    }
  });

  test("the pages' tweetnacl has no encryption", () => {
    expect([whole.box, whole.secretbox].map((each) => typeof each)).toEqual([
      "function",
      "function",
    ]);
    expect([cut.box, cut.secretbox]).toEqual([undefined, undefined]);
  });

  test("a changed source of tweetnacl is refused, so that a person must review it first", () => {
    const renamed = source.replace("nacl.secretbox = function(", "nacl.secretBox = function(");
    expect(() => dropCiphers(renamed)).toThrow("tweetnacl has changed");
    expect(() => dropCiphers(`${source}\nnacl.lowlevel = {`)).toThrow("tweetnacl has changed");
  });
});
