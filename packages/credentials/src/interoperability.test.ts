import { describe, expect, test } from "vitest";
import {
  issueWithReference,
  presentWithReference,
  verifyWithReference,
  verifyPresentationWithReference,
} from "../test/digital-bazaar.ts";
import {
  alice,
  bob,
  HOUR_MS,
  issueTestCredential,
  now,
  createTestPresentation,
  resignDocument,
  types,
} from "../test/fixtures.ts";
import { verifyCredential, verifyPresentation } from "./index.ts";

const bound = { challenge: "4f2c", domain: "https://relay.example" };
const asked = { challenge: bound.challenge, audience: bound.domain };
const weVerify = (credential: object, at = now) => verifyCredential(credential, { now: at }).valid;
const weVerifyPresentation = (presentation: object) =>
  verifyPresentation(presentation, { now, ...asked }).valid;

describe.each(types)("%s", (type) => {
  const ours = issueTestCredential(type);
  const { proof: _, ...unsigned } = ours;

  test("a credential that is issued here verifies with the reference library", async () => {
    expect(await verifyWithReference(ours, now)).toBe(true);
  });

  test("a credential that the reference library issues verifies here", async () => {
    const theirs = await issueWithReference(unsigned, alice, now);
    expect(weVerify(theirs)).toBe(true);
    expect(await verifyWithReference(theirs, now)).toBe(true);
  });

  test("both libraries compute the same hashes and the same proof value", async () => {
    const theirs = (await issueWithReference(unsigned, alice, now)) as typeof ours;
    // Their library writes whole seconds, so ours is created at one.
    const { created } = theirs.proof;
    const sameMoment = resignDocument(ours, { proof: { created } });
    expect(sameMoment).toEqual(theirs);
  });
});

describe("both libraries refuse a changed credential", () => {
  const good = issueTestCredential();
  const { proof, credentialSubject } = good;

  const tampered: Record<string, object> = {
    "another figure": { ...good, credentialSubject: { ...credentialSubject, success_rate: 1 } },
    "another subject": { ...good, credentialSubject: { ...credentialSubject, id: alice.did } },
    "one more member": { ...good, name: "Reputation" },
    "another issuer": { ...good, issuer: bob.did },
    "a longer life": { ...good, validUntil: "2027-01-02T05:14:54Z" },
    "another moment of signing": { ...good, proof: { ...proof, created: "2026-01-01T00:00:00Z" } },
    "another purpose": { ...good, proof: { ...proof, proofPurpose: "authentication" } },
    "another suite": { ...good, proof: { ...proof, cryptosuite: "eddsa-rdfc-2022" } },
    "another key": { ...good, proof: { ...proof, verificationMethod: bob.method } },
    "no proof context": { ...good, proof: { ...proof, "@context": undefined } },
    "another proof's value": { ...good, proof: issueTestCredential("AgentTrustCredential").proof },
  };

  test.each(Object.entries(tampered))(
    "a credential with %s is refused by both libraries",
    async (_, credential) => {
      const written = JSON.parse(JSON.stringify(credential)) as object;
      expect(weVerify(written)).toBe(false);
      expect(await verifyWithReference(written, now)).toBe(false);
    },
  );

  test("both libraries refuse an expired credential", async () => {
    const theirTolerance = 300_000;
    const late = now + HOUR_MS + theirTolerance + 1000;
    expect(weVerify(good, late)).toBe(false);
    expect(await verifyWithReference(good, late)).toBe(false);
  });

  test("both libraries refuse a credential that another key signed", async () => {
    const forged = resignDocument(good, {}, bob);
    expect(weVerify(forged)).toBe(false);
    expect(await verifyWithReference(forged, now)).toBe(false);
  });
});

describe("presentations", () => {
  test("a presentation that is created here verifies with the reference library", async () => {
    const ours = createTestPresentation(asked);
    expect(await verifyPresentationWithReference(ours, bound, now)).toBe(true);
  });

  test("a presentation that the reference library creates verifies here", async () => {
    const theirs = await presentWithReference([issueTestCredential()], bound, bob, now);
    expect(weVerifyPresentation(theirs)).toBe(true);
    expect(await verifyPresentationWithReference(theirs, bound, now)).toBe(true);
  });

  const ours = createTestPresentation(asked);
  const [credential] = ours.verifiableCredential;
  const tampered: Record<string, object> = {
    "without its credential": { ...ours, verifiableCredential: [] },
    "with a tampered credential": {
      ...ours,
      verifiableCredential: [{ ...credential, name: "Reputation" }],
    },
    "with a tampered credential that its holder signed": resignDocument(
      ours,
      { verifiableCredential: [{ ...credential, name: "Reputation" }] },
      bob,
    ),
    "with another holder": { ...ours, holder: alice.did },
    "made for another challenge": createTestPresentation({ ...asked, challenge: "other" }),
    "made for another audience": createTestPresentation({
      ...asked,
      audience: "https://other.example",
    }),
  };

  test.each(Object.entries(tampered))(
    "a presentation %s is refused by both libraries",
    async (_, presentation) => {
      expect(weVerifyPresentation(presentation)).toBe(false);
      expect(await verifyPresentationWithReference(presentation, bound, now)).toBe(false);
    },
  );
});
