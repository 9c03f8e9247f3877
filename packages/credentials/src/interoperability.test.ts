import { describe, expect, test } from "vitest";
import {
  theyIssue,
  theyPresent,
  theyVerify,
  theyVerifyPresentation,
} from "../test/digital-bazaar.ts";
import { alice, bob, hour, issued, now, presented, resigned, types } from "../test/fixtures.ts";
import { verifyCredential, verifyPresentation } from "./index.ts";

const bound = { challenge: "4f2c", domain: "https://relay.example" };
const asked = { challenge: bound.challenge, audience: bound.domain };
const weVerify = (credential: object, at = now) => verifyCredential(credential, { now: at }).valid;
const weVerifyPresentation = (presentation: object) =>
  verifyPresentation(presentation, { now, ...asked }).valid;

describe.each(types)("a %s", (type) => {
  const ours = issued(type);
  const { proof: _, ...unsigned } = ours;

  test("that we issue they verify", async () => {
    expect(await theyVerify(ours, now)).toBe(true);
  });

  test("that they issue we verify", async () => {
    const theirs = await theyIssue(unsigned, alice, now);
    expect(weVerify(theirs)).toBe(true);
    expect(await theyVerify(theirs, now)).toBe(true);
  });

  test("that either issues has the same hashes, and so the same proof value", async () => {
    const theirs = (await theyIssue(unsigned, alice, now)) as typeof ours;
    // They write whole seconds, so ours is made at one.
    const { created } = theirs.proof;
    const sameMoment = resigned(ours, { proof: { created } });
    expect(sameMoment).toEqual(theirs);
  });
});

describe("a tampered one is refused by both", () => {
  const good = issued();
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
    "another proof's value": { ...good, proof: issued("AgentTrustCredential").proof },
  };

  test.each(Object.entries(tampered))("%s", async (_, credential) => {
    const written = JSON.parse(JSON.stringify(credential)) as object;
    expect(weVerify(written)).toBe(false);
    expect(await theyVerify(written, now)).toBe(false);
  });

  test("one that expired", async () => {
    const theirTolerance = 300_000;
    const late = now + hour + theirTolerance + 1000;
    expect(weVerify(good, late)).toBe(false);
    expect(await theyVerify(good, late)).toBe(false);
  });

  test("one that another key signed", async () => {
    const forged = resigned(good, {}, bob);
    expect(weVerify(forged)).toBe(false);
    expect(await theyVerify(forged, now)).toBe(false);
  });
});

describe("a presentation", () => {
  test("that we create they verify", async () => {
    const ours = presented(asked);
    expect(await theyVerifyPresentation(ours, bound, now)).toBe(true);
  });

  test("that they create we verify", async () => {
    const theirs = await theyPresent([issued()], bound, bob, now);
    expect(weVerifyPresentation(theirs)).toBe(true);
    expect(await theyVerifyPresentation(theirs, bound, now)).toBe(true);
  });

  const ours = presented(asked);
  const [credential] = ours.verifiableCredential;
  const tampered: Record<string, object> = {
    "without its credential": { ...ours, verifiableCredential: [] },
    "with a tampered credential": {
      ...ours,
      verifiableCredential: [{ ...credential, name: "Reputation" }],
    },
    "with a tampered credential that its holder signed": resigned(
      ours,
      { verifiableCredential: [{ ...credential, name: "Reputation" }] },
      bob,
    ),
    "with another holder": { ...ours, holder: alice.did },
    "made for another challenge": presented({ ...asked, challenge: "other" }),
    "made for another audience": presented({ ...asked, audience: "https://other.example" }),
  };

  test.each(Object.entries(tampered))("%s is refused by both", async (_, presentation) => {
    expect(weVerifyPresentation(presentation)).toBe(false);
    expect(await theyVerifyPresentation(presentation, bound, now)).toBe(false);
  });
});
