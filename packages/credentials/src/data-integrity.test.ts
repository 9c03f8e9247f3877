import {
  bytesToHex,
  canonicalize,
  fromBase58Btc,
  hexToBytes,
  getPublicKey,
  sha256Hex,
  toBase58Btc,
  verify,
} from "@agent/crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { alice, bob, now } from "../test/fixtures.ts";
import {
  deriveDid,
  hashData,
  parseVerificationMethod,
  decodeProofValue,
} from "./data-integrity.ts";
import { type DataIntegrityProof, verifyCredential } from "./index.ts";

function readVector(name: string): unknown {
  return JSON.parse(
    readFileSync(new URL(`../../../vectors/vc/${name}`, import.meta.url), "utf8"),
  ) as unknown;
}

describe("the W3C vector of eddsa-jcs-2022", () => {
  const w3c = readVector("eddsa-jcs-2022.json") as {
    readonly keyPair: { readonly publicKeyMultibase: string; readonly privateKeyMultibase: string };
    readonly unsigned: { "@context": string[] };
    readonly canonicalDocument: string;
    readonly documentHash: string;
    readonly proofConfig: DataIntegrityProof;
    readonly canonicalProofConfig: string;
    readonly proofHash: string;
    readonly combinedHash: string;
    readonly signatureHex: string;
    readonly proofValue: string;
    readonly signed: { readonly proof: DataIntegrityProof };
  };
  // The seed follows the multibase digit and two bytes of multicodec.
  const secretKey = fromBase58Btc(w3c.keyPair.privateKeyMultibase.slice(1)).slice(2);

  test("the keys here are those of the W3C vector", () => {
    expect(deriveDid(secretKey)).toBe(`did:key:${w3c.keyPair.publicKeyMultibase}`);
    expect(parseVerificationMethod(w3c.proofConfig.verificationMethod)).toEqual(
      getPublicKey(secretKey),
    );
  });

  test("the canonical texts and hashes here are those of the W3C vector", () => {
    expect(canonicalize(w3c.unsigned)).toBe(w3c.canonicalDocument);
    expect(sha256Hex(w3c.canonicalDocument)).toBe(w3c.documentHash);
    expect(canonicalize(w3c.proofConfig)).toBe(w3c.canonicalProofConfig);
    expect(sha256Hex(w3c.canonicalProofConfig)).toBe(w3c.proofHash);
    expect(bytesToHex(hashData(w3c.signed))).toBe(w3c.combinedHash);
  });

  test("the signature and the proof value here are those of the W3C vector", () => {
    const signature = decodeProofValue(w3c.signed.proof)!;
    expect(bytesToHex(signature)).toBe(w3c.signatureHex);
    expect(`z${toBase58Btc(hexToBytes(w3c.signatureHex))}`).toBe(w3c.proofValue);
    expect(verify(signature, hashData(w3c.signed), getPublicKey(secretKey))).toBe(true);
  });

  test("the W3C vector is refused because its issuer is a web address and not a did:key", () => {
    const verdict = verifyCredential(w3c.signed, { now });
    expect(verdict).toMatchObject({ valid: false, code: "credential.wrong_signer" });
  });
});

describe("a verification method is a did:key and its own key as the fragment", () => {
  const { did_key: samples } = readVector("did-key.json") as {
    readonly did_key: readonly { did: string; seed: string; public_key: string }[];
  };

  test.each(samples)(
    "the verification method of $did is parsed to its key",
    ({ did, seed, public_key }) => {
      expect(deriveDid(hexToBytes(seed))).toBe(did);
      const publicKey = parseVerificationMethod(`${did}#${did.slice("did:key:".length)}`);
      expect(publicKey && bytesToHex(publicKey)).toBe(public_key);
    },
  );

  const [, fragment] = alice.method.split("#");
  test.each([
    ["no fragment", alice.did],
    ["an empty fragment", `${alice.did}#`],
    ["the fragment of another key", `${alice.did}#${bob.did.slice("did:key:".length)}`],
    ["two fragments", `${alice.method}#${fragment}`],
    ["the whole did as the fragment", `${alice.did}#${alice.did}`],
    ["a query", alice.method.replace("#", "?a=b#")],
    ["another method", alice.method.replace("did:key", "did:web")],
    ["another kind of key", "did:key:zQ3sh#zQ3sh"],
    ["no text at all", ""],
    ["only a fragment", `#${fragment}`],
    ["a megabyte of digits", `did:key:z${"6".repeat(1e6)}#z${"6".repeat(1e6)}`],
  ])("a verification method with %s is refused", (_, method) => {
    expect(parseVerificationMethod(method)).toBeNull();
  });
});
