import { describe, expect, it } from "vitest";
import { alpha, beta, gamma, buildDescription, NOW, type Party } from "../../test/messages.ts";
import { signText } from "../signing/signed-text.ts";
import { checkProposalAnswer, checkConfirmationAnswer, createProposal } from "./initiator.ts";
import { buildProposalAnswer, checkConfirmation } from "./responder.ts";

const nonceA = new Uint8Array(32).fill(1);
const nonceB = new Uint8Array(32).fill(2);

function responder(change: Partial<Parameters<typeof buildProposalAnswer>[1]> = {}) {
  return {
    self: buildDescription(beta),
    policy: { blocked: [], allowed: null, maxPeers: 50 },
    getAdmissionInput: () => ({ known: null, livePeers: 0 }),
    nonce: nonceB,
    secretKey: beta.secretKey,
    now: NOW,
    ...change,
  };
}

const begun = () => createProposal(buildDescription(alpha), nonceA);

function answered(proposal: unknown = begun().message) {
  const answer = buildProposalAnswer(proposal, responder());
  if (!answer.ok) throw new Error(answer.code);
  return answer;
}

const expectBeta = {
  expected: { relayId: beta.id, publicKey: beta.publicKey },
  secretKey: alpha.secretKey,
};

function confirmed(answer: unknown = answered().answer) {
  const result = checkProposalAnswer(begun().state, answer, expectBeta);
  if (!result.ok) throw new Error(result.code);
  return result;
}

it("a handshake makes two honest relays each other's peer", () => {
  const { pending } = answered();
  const { state, message } = confirmed();
  const checked = checkConfirmation(pending, message, NOW + 300_000);
  expect(checked).toEqual({
    ok: true,
    peer: buildDescription(alpha),
    answer: { status: "active" },
  });
  expect(checkConfirmationAnswer(state, { status: "active" })).toEqual({
    ok: true,
    peer: buildDescription(beta),
  });
});

describe("the responder of a handshake (F7)", () => {
  it.each([
    ["relay_id", "relay-1"],
    ["relay_id", '{"a"'],
    ["nonce_a", "ab"],
    ["nonce_a", '"b"}'],
    ["nonce_a", "A".repeat(64)],
    ["public_key", "00"],
    ["endpoint_url", "file:///etc/passwd"],
    ["endpoint_url", "https://user:secret@relay.example"],
  ])("the responder refuses a proposal with %s %s without signing", (member, value) => {
    const answer = buildProposalAnswer({ ...begun().message, [member]: value }, responder());
    expect(answer).toMatchObject({ ok: false, code: "federation.malformed" });
    expect(answer).not.toHaveProperty("answer");
  });

  it("the responder refuses a proposal in its own name (F8)", () => {
    const { message } = createProposal(buildDescription(beta), nonceA);
    expect(buildProposalAnswer(message, responder())).toEqual({
      ok: false,
      code: "peer.own_identity",
    });
  });

  it("the responder refuses a proposal that is not admitted", () => {
    const policy = { blocked: [alpha.id], allowed: null, maxPeers: 50 };
    expect(buildProposalAnswer(begun().message, responder({ policy }))).toEqual({
      ok: false,
      code: "peer.blocked",
    });
  });
});

describe("the initiator ends the handshake if", () => {
  const signedBy = (signer: Party, text: string) => ({
    ...answered().answer,
    challenge: signText(text, signer.secretKey),
  });
  const hexA = "01".repeat(32);

  it.each([
    ["the challenge is signed by another relay", signedBy(gamma, `${alpha.id}:${hexA}`)],
    ["the challenge is over another nonce", signedBy(beta, `${alpha.id}:${"02".repeat(32)}`)],
    ["the challenge names another initiator", signedBy(beta, `${beta.id}:${hexA}`)],
  ])("the initiator ends the handshake if %s", (_, answer) => {
    expect(checkProposalAnswer(begun().state, answer, expectBeta)).toEqual({
      ok: false,
      code: "peer.challenge_invalid",
    });
  });

  it.each([
    ["another relay answers", buildDescription(gamma), gamma],
    [
      "the endpoint's id differs from the answer's",
      { ...buildDescription(beta), relayId: gamma.id },
      beta,
    ],
    [
      "the endpoint's key differs from the answer's",
      { ...buildDescription(beta), publicKey: gamma.publicKey },
      gamma,
    ],
  ])("the initiator ends the handshake also if %s", (_, self, signer) => {
    const answer = buildProposalAnswer(
      begun().message,
      responder({ self, secretKey: signer.secretKey }),
    );
    expect(checkProposalAnswer(begun().state, answer.ok && answer.answer, expectBeta)).toEqual({
      ok: false,
      code: "peer.identity_mismatch",
    });
  });

  it.each([
    ["id", { relay_id: alpha.id }, { relayId: alpha.id, publicKey: beta.publicKey }],
    ["key", { public_key: alpha.publicKey }, { relayId: beta.id, publicKey: alpha.publicKey }],
  ])("the initiator ends the handshake if the answer has its own %s", (_, change, expected) => {
    const answer = { ...answered().answer, ...change };
    expect(checkProposalAnswer(begun().state, answer, { ...expectBeta, expected })).toEqual({
      ok: false,
      code: "peer.identity_mismatch",
    });
  });

  it("the initiator ends the handshake if the answer has its own identity", () => {
    const self = buildDescription(alpha);
    const expected = { relayId: alpha.id, publicKey: alpha.publicKey };
    const answer = { ...answered().answer, relay_id: alpha.id, public_key: alpha.publicKey };
    expect(
      checkProposalAnswer({ step: "proposed", self, nonceA: hexA }, answer, {
        ...expectBeta,
        expected,
      }),
    ).toEqual({ ok: false, code: "peer.identity_mismatch" });
  });

  it("the initiator ends the handshake if the answer is malformed or does not state that it is active", () => {
    expect(checkProposalAnswer(begun().state, null, expectBeta)).toMatchObject({
      code: "federation.malformed",
    });
    expect(checkConfirmationAnswer(confirmed().state, { status: "pending" })).toMatchObject({
      code: "federation.malformed",
    });
  });
});

describe("the responder refuses a confirmation (F9)", () => {
  const { message } = confirmed();
  const other = buildProposalAnswer(
    begun().message,
    responder({ nonce: new Uint8Array(32).fill(3) }),
  );

  it.each([
    ["before any proposal", null, message, "peer.not_pending"],
    ["of another session", other.ok ? other.pending : null, message, "peer.challenge_invalid"],
    [
      "that repeats the challenge",
      answered().pending,
      { ...message, challenge_response: answered().answer.challenge },
      "peer.challenge_invalid",
    ],
    [
      "in another relay's name",
      answered().pending,
      { ...message, relay_id: gamma.id },
      "peer.identity_mismatch",
    ],
    ["without an answer", answered().pending, { relay_id: alpha.id }, "federation.malformed"],
  ])("the responder refuses a confirmation %s", (_, pending, confirmation, code) => {
    expect(checkConfirmation(pending, confirmation, NOW)).toMatchObject({ ok: false, code });
  });

  it("a confirmation that arrives more than 5 minutes after the proposal is refused", () => {
    expect(checkConfirmation(answered().pending, message, NOW + 300_001)).toEqual({
      ok: false,
      code: "peer.not_pending",
    });
  });
});
