import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import {
  alice,
  bob,
  HOUR_MS,
  issueTestCredential,
  now,
  resignDocument,
  subjects,
  types,
} from "../test/fixtures.ts";
import {
  type CredentialType,
  listCredentialTypes,
  issueCredential,
  verifyCredential,
} from "./index.ts";

const reputation = {
  type: "AgentReputationCredential",
  subject: subjects.AgentReputationCredential,
  secretKey: alice.secretKey,
  now,
} as const;

describe("issued credentials", () => {
  test("an issued credential is the envelope of the specification with a proof of its issuer", () => {
    expect(issueCredential(reputation)).toEqual({
      "@context": ["https://www.w3.org/ns/credentials/v2"],
      type: ["VerifiableCredential", "AgentReputationCredential"],
      issuer: alice.did,
      validFrom: "2026-01-02T05:14:54.827Z",
      validUntil: "2026-01-02T06:14:54.827Z",
      credentialSubject: reputation.subject,
      proof: {
        type: "DataIntegrityProof",
        cryptosuite: "eddsa-jcs-2022",
        created: "2026-01-02T05:14:54.827Z",
        verificationMethod: alice.method,
        proofPurpose: "assertionMethod",
        "@context": ["https://www.w3.org/ns/credentials/v2"],
        proofValue: expect.stringMatching(/^z[1-9A-HJ-NP-Za-km-z]{86,88}$/) as string,
      },
    });
  });

  test("an issued credential has an id that is a UUID v7 of its time if random bytes are given", () => {
    const randomBytes = new Uint8Array(10).fill(0xab);
    const { id } = issueCredential({ ...reputation, randomBytes });
    expect(id).toBe("urn:uuid:019b7d21-53eb-7bab-abab-abababababab");
  });

  test("an issued credential is valid for as long as its issuer says", () => {
    const { validUntil } = issueCredential({ ...reputation, validForMs: 24 * HOUR_MS });
    expect(validUntil).toBe("2026-01-03T05:14:54.827Z");
  });

  test.each(types)("an issued credential is valid for the type %s, which is listed", (type) => {
    const credential = issueTestCredential(type);
    expect(verifyCredential(credential, { now }).valid).toBe(true);
    expect(listCredentialTypes(credential)).toEqual([type]);
  });

  test("an issued credential verifies for any subject of its type, as a value and as a text", () => {
    const ratio = fc.double({ min: 0, max: 1, noNaN: true });
    const whole = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    const subject = fc.record({
      id: fc.constantFrom(alice.did, bob.did),
      success_rate: ratio,
      avg_latency_ms: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
      task_count: whole,
      trust_score: ratio,
      availability: ratio,
      sample_size: whole,
      measured_at: whole,
    });
    const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(subject, seed, (claims, secretKey) => {
        const credential = issueCredential({ ...reputation, subject: claims, secretKey });
        expect(verifyCredential(credential, { now }).valid).toBe(true);
        expect(verifyCredential(JSON.stringify(credential), { now }).valid).toBe(true);
      }),
    );
  });
});

describe("the subject of a credential must match its type", () => {
  const ratio = { right: [0, 0.5, 1], wrong: [undefined, null, "1", -0.1, 1.1, NaN, Infinity] };
  const whole = { right: [0, 2 ** 53 - 1], wrong: [undefined, null, "1", -1, 0.5, 2 ** 53, NaN] };
  const finite = { right: [-1, 0, 1e300], wrong: [undefined, null, "1", Infinity, NaN, []] };
  const did = {
    right: [alice.did],
    wrong: ["", "bob", "did:web:a.example", alice.method, `did:key:z${"1".repeat(1e6)}`],
  };

  const rules: Record<CredentialType, Record<string, { right: unknown[]; wrong: unknown[] }>> = {
    AgentReputationCredential: {
      id: did,
      success_rate: ratio,
      avg_latency_ms: { right: [0, 0.25, 1e9], wrong: [undefined, null, "1", -1, Infinity, NaN] },
      task_count: whole,
      trust_score: ratio,
      availability: ratio,
      sample_size: whole,
      measured_at: whole,
    },
    AgentGradientCredential: {
      id: did,
      gradient: ratio,
      knowledge_density: finite,
      knowledge_quality: finite,
      graph_connectivity: finite,
      temporal_stability: finite,
      retrieval_quality: finite,
      interaction_efficiency: finite,
      tool_efficiency: finite,
      curiosity_pressure: finite,
      measured_at: whole,
    },
    AgentTrustCredential: {
      id: did,
      trust_level: { right: ["trusted", "x"], wrong: [undefined, null, "", 1] },
      interaction_count: whole,
      successful_tasks: whole,
      failed_tasks: whole,
      first_seen_at: whole,
      last_seen_at: whole,
    },
  };

  test("every member of every type of credential has a rule", () => {
    const names = (table: object) =>
      Object.entries(table).map(([type, members]) => [type, Object.keys(members as object)]);
    expect(names(rules)).toEqual(names(subjects));
  });

  const casesOf = (side: "right" | "wrong") =>
    Object.entries(rules).flatMap(([type, members]) =>
      Object.entries(members).flatMap(([member, values]) =>
        values[side].map((value) => ({
          type: type as CredentialType,
          member,
          title: String(value).slice(0, 60),
          subject: { ...subjects[type as CredentialType], [member]: value },
        })),
      ),
    );

  test.each(casesOf("right"))(
    "a credential of the type $type may have the $member $title",
    ({ type, subject }) => {
      const credential = issueCredential({ ...reputation, type, subject });
      expect(verifyCredential(credential, { now }).valid).toBe(true);
    },
  );

  test.each(casesOf("wrong"))(
    "a credential of the type $type is not issued with the $member $title",
    ({ type, subject }) => {
      const issue = () => issueCredential({ ...reputation, type, subject });
      expect(issue).toThrow(v.ValiError);
    },
  );

  // NaN and Infinity are not JSON, and without an id there is no subject.
  const signable = casesOf("wrong").filter(
    ({ subject, title }) => subject.id !== "" && !["NaN", "Infinity"].includes(title),
  );
  test.each(signable)(
    "a signed credential of the type $type is refused with the $member $title",
    ({ type, subject }) => {
      const credential = resignDocument(issueTestCredential(type), { credentialSubject: subject });
      expect(verifyCredential(credential, { now }).code).toBe("credential.subject_malformed");
    },
  );

  test("a credential may have more members than its type names", () => {
    const subject = { ...subjects.AgentTrustCredential, note: "met at a fair" };
    const credential = issueCredential({ ...reputation, type: "AgentTrustCredential", subject });
    expect(credential.credentialSubject).toEqual(subject);
    expect(verifyCredential(credential, { now }).valid).toBe(true);
  });

  test("a credential that names two types is checked for both", () => {
    const type = ["VerifiableCredential", ...types];
    expect(verifyCredential(resignDocument(issueTestCredential(), { type }), { now }).code).toBe(
      "credential.subject_malformed",
    );
  });
});
