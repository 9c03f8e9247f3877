import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { verifyCredential, verifyCredentialAsync } from "./index.ts";

interface CredentialVector {
  readonly id: number;
  readonly cls: string;
  readonly why: string;
  /** The raw JSON text. */
  readonly credential: string;
  /** The verifier's clock in ms. */
  readonly now: number;
  readonly expect: "valid" | "invalid";
}

const file = new URL("../../../vectors/own/credentials.jsonl", import.meta.url);
const vectors = readFileSync(file, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as CredentialVector);

describe("credentials.jsonl with native cryptography", () => {
  test.each(vectors)("$id $cls: $why", async ({ credential, now, expect: word }) => {
    const verdict = verifyCredential(credential, { now });
    expect(verdict.valid).toBe(word === "valid");
    expect(await verifyCredentialAsync(credential, { now })).toEqual(verdict);
  });
});

describe("credentials.jsonl with portable cryptography", () => {
  let portable: typeof import("./index.ts");

  beforeAll(async () => {
    vi.resetModules();
    vi.doMock("@agent/crypto", async (original) => ({
      ...(await original<object>()),
      ...(await import("@agent/crypto/portable")),
    }));
    portable = await import("./index.ts");
  });
  afterAll(() => {
    vi.doUnmock("@agent/crypto");
    vi.resetModules();
  });

  test("the verifier uses the portable implementation", async () => {
    const used = await import("@agent/crypto");
    expect(used.verify).toBe((await import("@agent/crypto/portable")).verify);
  });

  test.each(vectors)("$id $cls: $why", ({ credential, now }) => {
    const verdict = portable.verifyCredential(credential, { now });
    expect(verdict).toEqual(verifyCredential(credential, { now }));
  });
});

describe("the vectors have the codes of their faults", () => {
  const codes: Record<string, string | undefined> = {
    valid: undefined,
    "valid-respelled": undefined,
    "valid-no-expiry": undefined,
    "valid-proof-context": undefined,
    expired: "credential.expired",
    "tampered-subject": "credential.signature_invalid",
    "tampered-issuer": "credential.wrong_signer",
    "tampered-validUntil": "credential.signature_invalid",
    "tampered-created": "credential.signature_invalid",
    "tampered-purpose": "credential.purpose",
    "issuer-not-signer": "credential.wrong_signer",
    "purpose-authentication": "credential.purpose",
    "suite-rdfc": "credential.suite",
    "type-other": "credential.suite",
    "fragment-mismatch": "credential.key_invalid",
    "proofValue-no-z": "credential.signature_invalid",
    "proofValue-hex": "credential.signature_invalid",
    "no-proof": "credential.malformed",
    "proof-null": "credential.malformed",
    "hash-order": "credential.signature_invalid",
    "not-yet-valid": "credential.not_yet_valid",
  };

  test("the table of codes lists every class of vectors", () => {
    expect(Object.keys(codes)).toEqual([...new Set(vectors.map(({ cls }) => cls))]);
  });

  test.each(Object.entries(codes))("%s: %s", (cls, code) => {
    const answers = vectors
      .filter((vector) => vector.cls === cls)
      .map(({ credential, now }) => verifyCredential(credential, { now }).code);
    expect(new Set(answers)).toEqual(new Set([code]));
  });
});
