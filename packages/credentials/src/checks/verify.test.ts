import { describe, expect, test } from "vitest";
import {
  alice,
  bob,
  carol,
  HOUR_MS,
  issueTestCredential,
  now,
  resignDocument,
  subjects,
} from "../../test/fixtures.ts";
import { issueCredential, verifyCredential, verifyCredentialAsync } from "../index.ts";

const good = issueTestCredential();
const iso = (ms: number) => new Date(ms).toISOString();
const codeOf = (credential: object, at = now) => verifyCredential(credential, { now: at }).code;

describe("the checks are made in a fixed order", () => {
  test("the verdict of a valid credential lists every check that applies", () => {
    const credential = resignDocument(good, {
      credentialStatus: { type: "BitstringStatusListEntry" },
    });
    const verdict = verifyCredential(credential, { now, isRevoked: () => false });
    expect(verdict).toEqual({
      valid: true,
      checks: [
        "structure",
        "suite",
        "purpose",
        "key",
        "issuer",
        "proof_context",
        "signature",
        "valid_from",
        "valid_until",
        "revocation",
        "subject",
        "type",
        "status",
      ].map((name) => ({ name, ok: true })),
      nested: [],
    });
  });

  test("the verdict on a credential leaves out checks that do not apply", () => {
    const credential = resignDocument(good, { proof: { "@context": undefined } });
    const names = verifyCredential(credential, { now }).checks.map(({ name }) => name);
    expect(names).toEqual([
      "structure",
      "suite",
      "purpose",
      "key",
      "issuer",
      "signature",
      "valid_from",
      "valid_until",
      "subject",
      "type",
    ]);
  });

  // Each row adds a fault before those of the rows above it, and that fault decides.
  const faults: [name: string, code: string, changes: object, proof?: object][] = [
    [
      "subject",
      "credential.subject_malformed",
      { credentialSubject: { ...good.credentialSubject, success_rate: 2 } },
    ],
    ["revocation", "credential.revoked", { id: "urn:uuid:revoked" }],
    ["valid_until", "credential.expired", { validUntil: iso(now - 1) }],
    ["valid_from", "credential.not_yet_valid", { validFrom: iso(now + 1) }],
    ["signature", "credential.signature_invalid", {}, { proofValue: "z1" }],
    ["proof_context", "credential.proof_context", {}, { "@context": [] }],
    ["issuer", "credential.wrong_signer", { issuer: bob.did }],
    ["key", "credential.key_invalid", {}, { verificationMethod: alice.did }],
    ["purpose", "credential.purpose", {}, { proofPurpose: "authentication" }],
    ["suite", "credential.suite", {}, { cryptosuite: "eddsa-rdfc-2022" }],
    ["structure", "credential.malformed", { type: [] }],
  ];

  test.each(
    faults.map((fault, index) => [...fault.slice(0, 2), index] as [string, string, number]),
  )("the check %s refuses with %s", async (name, code, index) => {
    const above = faults.slice(0, index + 1);
    const changes = Object.assign({}, ...above.map(([, , members]) => members)) as object;
    const proofChanges = Object.assign({}, ...above.map(([, , , proof]) => proof)) as object;
    const signed = resignDocument(good, changes);
    const credential = { ...signed, proof: { ...signed.proof, ...proofChanges } };
    const isRevoked = ({ id }: { id?: string | undefined }) => id === "urn:uuid:revoked";

    const verdict = verifyCredential(credential, { now, isRevoked });
    expect(verdict).toMatchObject({ valid: false, code, nested: [] });
    expect(verdict.checks.at(-1)).toEqual({ name, ok: false, code });
    expect(verdict.checks.slice(0, -1).every(({ ok }) => ok)).toBe(true);
    expect(await verifyCredentialAsync(credential, { now, isRevoked })).toEqual(verdict);
  });
});

describe("a proof that breaks a rule is refused although its signature is valid", () => {
  test.each<[string, string, object]>([
    ["another type of proof", "credential.suite", { type: "Ed25519Signature2020" }],
    ["another suite", "credential.suite", { cryptosuite: "eddsa-rdfc-2022" }],
    ["a suite in other spelling", "credential.suite", { cryptosuite: "EdDSA-JCS-2022" }],
    ["the purpose of a presentation", "credential.purpose", { proofPurpose: "authentication" }],
    ["an unknown purpose", "credential.purpose", { proofPurpose: "toString" }],
    [
      "a fragment of another key",
      "credential.key_invalid",
      { verificationMethod: `${alice.did}#a` },
    ],
    [
      "a key on the web",
      "credential.key_invalid",
      { verificationMethod: "https://a.example/#key" },
    ],
    ["another signer's name", "credential.wrong_signer", { verificationMethod: bob.method }],
    ["a proof that ended", "credential.expired", { expires: iso(now - 1) }],
    ["a malformed date", "credential.malformed", { created: "2026-01-02" }],
    ["a proof before it", "credential.malformed", { previousProof: "urn:uuid:1" }],
  ])("a proof with %s is refused with %s", (_, code, proof) => {
    expect(codeOf(resignDocument(good, { proof }))).toBe(code);
  });

  test("a list of proofs is refused", () => {
    expect(codeOf({ ...good, proof: [good.proof] })).toBe("credential.malformed");
  });

  test("a credential that another key than the issuer's signed is refused", () => {
    const signedByBob = resignDocument(good, { proof: { verificationMethod: bob.method } }, bob);
    expect(codeOf(signedByBob)).toBe("credential.wrong_signer");
    expect(codeOf(resignDocument(signedByBob, { issuer: bob.did }, bob))).toBeUndefined();
    expect(codeOf(resignDocument(good, {}, carol))).toBe("credential.signature_invalid");
  });
});

describe("a signed proof @context is the document's", () => {
  const v2 = "https://www.w3.org/ns/credentials/v2";
  const other = "https://example.org/v1";

  test.each<[string, string[], string[] | undefined, string | undefined]>([
    ["left out", [v2], undefined, undefined],
    ["the same", [v2], [v2], undefined],
    ["the same two", [v2, other], [v2, other], undefined],
    ["only the first of two", [v2, other], [v2], "credential.proof_context"],
    ["one more", [v2], [v2, other], "credential.proof_context"],
    ["another order", [v2, other], [other, v2], "credential.proof_context"],
    ["empty", [v2], [], "credential.proof_context"],
  ])(
    "the @context of a signed proof must be the document's: %s",
    (_, context, proofContext, code) => {
      const credential = resignDocument(good, {
        "@context": context,
        proof: { "@context": proofContext },
      });
      expect(codeOf(credential)).toBe(code);
    },
  );

  test("a @context that was added to or removed from a proof after signing is refused", () => {
    const bare = resignDocument(good, { proof: { "@context": undefined } });
    const putIn = { ...bare, proof: { ...bare.proof, "@context": [v2] } };
    const takenOut = { ...good, proof: { ...good.proof, "@context": undefined } };
    expect(codeOf(putIn)).toBe("credential.signature_invalid");
    expect(codeOf(takenOut)).toBe("credential.signature_invalid");
  });
});

describe("a credential is valid from validFrom up to validUntil", () => {
  test.each([
    [-1, "credential.not_yet_valid"],
    [0, undefined],
    [HOUR_MS, undefined],
    [HOUR_MS + 1, "credential.expired"],
    [1e13, "credential.expired"],
    [Number.NaN, "credential.not_yet_valid"],
  ])("%d ms after issue a credential has the verdict %s", (after, code) => {
    expect(codeOf(good, now + after)).toBe(code);
  });

  test("a credential without an end does not expire", () => {
    expect(codeOf(resignDocument(good, { validUntil: undefined }), now + 1e12)).toBeUndefined();
  });

  test("dates of different time zones are compared as points in time", () => {
    const inTokyo = { validFrom: "2026-01-02T14:14:54.827+09:00" };
    expect(codeOf(resignDocument(good, inTokyo))).toBeUndefined();
    expect(codeOf(resignDocument(good, inTokyo), now - 1)).toBe("credential.not_yet_valid");
  });

  test.each(["validFrom", "validUntil"])(
    "a %s that is not a date is refused as malformed",
    (member) => {
      expect(codeOf(resignDocument(good, { [member]: "2026-02-30T00:00:00Z" }))).toBe(
        "credential.malformed",
      );
    },
  );
});

describe("revoked credentials", () => {
  const asked: unknown[] = [];
  const isRevoked = (credential: unknown) => {
    asked.push(credential);
    return true;
  };

  test("a revoked credential is refused with a synchronous and an asynchronous lookup", async () => {
    expect(verifyCredential(good, { now, isRevoked }).code).toBe("credential.revoked");
    const later = (credential: unknown) => Promise.resolve(isRevoked(credential));
    expect((await verifyCredentialAsync(good, { now, isRevoked: later })).code).toBe(
      "credential.revoked",
    );
    const isKept = () => Promise.resolve(false);
    expect((await verifyCredentialAsync(good, { now, isRevoked: isKept })).valid).toBe(true);
    expect(asked).toEqual([good, good]);
  });

  test("the revocation of a credential that is not authentic is not looked up", () => {
    asked.length = 0;
    verifyCredential({ ...good, id: "urn:uuid:1" }, { now, isRevoked });
    expect(asked).toEqual([]);
  });

  test("a revocation answer that is not a boolean counts as revoked", () => {
    const promised = (() => Promise.resolve(false)) as unknown as () => boolean;
    expect(verifyCredential(good, { now, isRevoked: promised }).code).toBe("credential.revoked");
  });

  test("an error of the revocation lookup reaches the caller", async () => {
    const broken = () => {
      throw new Error("database is closed");
    };
    expect(() => verifyCredential(good, { now, isRevoked: broken })).toThrow("closed");
    await expect(verifyCredentialAsync(good, { now, isRevoked: broken })).rejects.toThrow("closed");
  });
});

describe("a warning leaves the credential valid", () => {
  const warnings = (credential: object, isRevoked?: () => boolean) => {
    const { valid, checks } = verifyCredential(credential, { now, isRevoked });
    expect(valid).toBe(true);
    return checks.filter(({ ok }) => !ok).map(({ name, code }) => [name, code]);
  };

  test("an unknown type of credential leads to a warning", () => {
    expect(warnings(good)).toEqual([]);
    const type = ["VerifiableCredential", "AlumniCredential"];
    const credentialSubject = { id: bob.did, alumniOf: "The School of Examples" };
    expect(warnings(resignDocument(good, { type, credentialSubject }))).toEqual([
      ["type", "credential.type_unknown"],
    ]);
  });

  test("a status list that was not checked leads to a warning", () => {
    const listed = resignDocument(good, { credentialStatus: { id: "https://a.example/list#1" } });
    expect(warnings(listed)).toEqual([["status", "credential.status_unchecked"]]);
    expect(warnings(listed, () => false)).toEqual([]);
  });
});

describe("a text is measured before it is decoded", () => {
  // Each of them would take minutes to decode.
  const digits = "6".repeat(1_000_000);
  const { proof } = good;

  test.each<[string, object]>([
    ["credential.signature_invalid", { ...good, proof: { ...proof, proofValue: `z${digits}` } }],
    [
      "credential.key_invalid",
      {
        ...good,
        issuer: `did:key:z${digits}`,
        proof: { ...proof, verificationMethod: `did:key:z${digits}#z${digits}` },
      },
    ],
    [
      "credential.subject_malformed",
      resignDocument(good, {
        credentialSubject: { ...subjects.AgentTrustCredential, id: `did:key:z${digits}` },
      }),
    ],
  ])(
    "a credential with a long text is refused with %s before it is decoded",
    (code, credential) => {
      expect(codeOf(credential)).toBe(code);
    },
  );

  test.each([
    ["one byte less", (value: string) => value.slice(0, -2)],
    ["one digit more", (value: string) => `${value}1`],
    ["a zero byte in front", (value: string) => value.replace("z", "z1")],
    ["no multibase digit", (value: string) => value.slice(1)],
    ["another multibase digit", (value: string) => value.replace("z", "u")],
    ["a digit that base58 lacks", (value: string) => `${value.slice(0, -1)}0`],
  ])("a proof value with %s is refused", (_, change) => {
    const proofValue = change(proof.proofValue);
    expect(codeOf({ ...good, proof: { ...proof, proofValue } })).toBe(
      "credential.signature_invalid",
    );
  });
});

test("a credential of any issuer is verified by its did:key alone", () => {
  const credential = issueCredential({
    type: "AgentTrustCredential",
    subject: subjects.AgentTrustCredential,
    secretKey: carol.secretKey,
    now,
  });
  expect(credential.issuer).toBe(carol.did);
  expect(verifyCredential(credential, { now }).valid).toBe(true);
});
