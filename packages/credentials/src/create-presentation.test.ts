import { describe, expect, test } from "vitest";
import {
  alice,
  bob,
  carol,
  HOUR_MS,
  issueTestCredential,
  now,
  createTestPresentation,
  resignDocument,
  types,
} from "../test/fixtures.ts";
import { verifyCredential, verifyPresentation, verifyPresentationAsync } from "./index.ts";

const bound = { challenge: "4f2c", audience: "https://relay.example" };

describe("presentations", () => {
  const credentials = types.map((type) => issueTestCredential(type));
  const presentation = createTestPresentation({ ...bound, credentials });

  test("a presentation is the envelope of the specification with an authentication proof of its holder", () => {
    expect(presentation).toMatchObject({
      "@context": ["https://www.w3.org/ns/credentials/v2"],
      type: ["VerifiablePresentation"],
      holder: bob.did,
      verifiableCredential: credentials,
      proof: {
        type: "DataIntegrityProof",
        cryptosuite: "eddsa-jcs-2022",
        created: "2026-01-02T05:14:54.827Z",
        verificationMethod: bob.method,
        proofPurpose: "authentication",
        challenge: bound.challenge,
        domain: bound.audience,
      },
    });
  });

  test("a presentation is verified with each of its credentials, as a value and as a text", async () => {
    const verdict = verifyPresentation(presentation, { now, ...bound });
    expect(verdict.valid).toBe(true);
    expect(verdict.checks).toEqual(
      [
        "structure",
        "suite",
        "purpose",
        "key",
        "holder",
        "proof_context",
        "signature",
        "challenge",
        "audience",
        "credentials",
      ].map((name) => ({ name, ok: true })),
    );
    expect(verdict.nested).toEqual(
      credentials.map((credential) => verifyCredential(credential, { now })),
    );
    expect(verifyPresentation(JSON.stringify(presentation), { now, ...bound })).toEqual(verdict);
    expect(await verifyPresentationAsync(presentation, { now, ...bound })).toEqual(verdict);
  });

  test("a presentation may contain no credential", () => {
    expect(verifyPresentation(createTestPresentation({ credentials: [] }), { now }).valid).toBe(
      true,
    );
  });

  test("a presentation contains at most 256 credentials", () => {
    const of = (count: number) => () =>
      createTestPresentation({ credentials: Array(count).fill(issueTestCredential()) });
    expect(verifyPresentation(of(256)(), { now }).valid).toBe(true);
    expect(of(257)).toThrow(RangeError);
  });

  test("a presentation may be held by another agent than the subject of its credentials", () => {
    const byRelay = createTestPresentation({ secretKey: carol.secretKey });
    expect(byRelay.holder).toBe(carol.did);
    expect(verifyPresentation(byRelay, { now }).valid).toBe(true);
  });
});

describe("the challenge and the audience of a presentation", () => {
  const others = { challenge: "other", audience: "https://other.example" };

  test.each([
    ["challenge", "presentation.challenge_mismatch"],
    ["audience", "presentation.audience_mismatch"],
  ] as const)(
    "the %s that a presentation was signed for must be the expected one",
    (name, code) => {
      const asking = { now, [name]: bound[name] };
      expect(verifyPresentation(createTestPresentation(bound), asking).valid).toBe(true);
      expect(
        verifyPresentation(createTestPresentation({ [name]: others[name] }), asking).code,
      ).toBe(code);
      expect(verifyPresentation(createTestPresentation(), asking).code).toBe(code);
      expect(verifyPresentation(createTestPresentation(bound), { now }).valid).toBe(true);
    },
  );

  test.each(["challenge", "domain"])("a %s that was added after signing is refused", (name) => {
    const presentation = createTestPresentation();
    const proof = { ...presentation.proof, [name]: "4f2c" };
    expect(verifyPresentation({ ...presentation, proof }, { now }).code).toBe(
      "presentation.signature_invalid",
    );
  });
});

describe("the proof of a presentation is refused", () => {
  test.each<[string, string, object]>([
    ["another suite", "presentation.suite", { cryptosuite: "eddsa-rdfc-2022" }],
    ["the purpose of a credential", "presentation.purpose", { proofPurpose: "assertionMethod" }],
    ["a method without fragment", "presentation.key_invalid", { verificationMethod: bob.did }],
    ["another signer's name", "presentation.wrong_signer", { verificationMethod: alice.method }],
    ["another context", "presentation.proof_context", { "@context": [] }],
    ["a proof that ended", "presentation.expired", { expires: "2026-01-02T05:14:54.826Z" }],
    ["a malformed date", "presentation.malformed", { created: "yesterday" }],
  ])("a presentation whose proof has %s is refused with %s", (_, code, proof) => {
    const verdict = verifyPresentation(resignDocument(createTestPresentation(), { proof }, bob), {
      now,
    });
    expect(verdict).toMatchObject({ valid: false, code, nested: [] });
  });

  test("a presentation whose holder did not sign it is refused", () => {
    const codeOf = (value: object) => verifyPresentation(value, { now }).code;
    expect(codeOf(resignDocument(createTestPresentation(), { holder: alice.did }, bob))).toBe(
      "presentation.wrong_signer",
    );
    expect(codeOf(resignDocument(createTestPresentation(), {}, alice))).toBe(
      "presentation.signature_invalid",
    );
  });

  test("a proof with an end is accepted until that end", () => {
    const lasting = resignDocument(
      createTestPresentation(),
      { proof: { expires: "2026-01-02T05:14:54.827Z" } },
      bob,
    );
    const verdict = verifyPresentation(lasting, { now });
    expect(verdict.valid).toBe(true);
    expect(verdict.checks).toContainEqual({ name: "valid_until", ok: true });
  });

  test("a credential is no valid presentation, and a presentation is no valid credential", () => {
    expect(verifyPresentation(issueTestCredential(), { now }).code).toBe("presentation.malformed");
    expect(verifyCredential(createTestPresentation(), { now }).code).toBe("credential.malformed");
  });
});

describe("one refused credential refuses the presentation", () => {
  const good = issueTestCredential();
  const credentialInvalid = "presentation.credential_invalid";

  test.each<[string, object, number]>([
    ["credential.expired", good, now + HOUR_MS + 1],
    ["credential.not_yet_valid", good, now - 1],
    ["credential.signature_invalid", { ...good, id: "urn:uuid:1" }, now],
    ["credential.wrong_signer", resignDocument(good, { issuer: bob.did }), now],
    ["credential.suite", resignDocument(good, { proof: { cryptosuite: "x" } }), now],
  ])(
    "a presentation with a credential that is refused with %s is refused",
    async (code, bad, at) => {
      const later = { validFrom: "2025-01-01T00:00:00Z", validUntil: undefined };
      const fine = resignDocument(good, later);
      const shown = { verifiableCredential: [fine, bad, fine] };
      const presentation = resignDocument(createTestPresentation(), shown, bob);
      const verdict = verifyPresentation(presentation, { now: at });
      expect(verdict).toMatchObject({ valid: false, code: credentialInvalid });
      expect(verdict.checks.at(-1)).toEqual({
        name: "credentials",
        ok: false,
        code: credentialInvalid,
      });
      expect(verdict.nested.map((inner) => inner.code)).toEqual([undefined, code, undefined]);
      expect(await verifyPresentationAsync(presentation, { now: at })).toEqual(verdict);
    },
  );

  test("a presentation with a revoked credential is refused", async () => {
    const isRevoked = () => true;
    expect(verifyPresentation(createTestPresentation(), { now, isRevoked }).code).toBe(
      credentialInvalid,
    );
    const later = () => Promise.resolve(true);
    const verdict = await verifyPresentationAsync(createTestPresentation(), {
      now,
      isRevoked: later,
    });
    expect(verdict.nested).toMatchObject([{ valid: false, code: "credential.revoked" }]);
  });
});
