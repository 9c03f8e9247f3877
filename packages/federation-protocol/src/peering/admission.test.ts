import { describe, expect, it } from "vitest";
import { alpha, beta, gamma } from "../../test/messages.ts";
import {
  checkAdmission,
  checkProposalAdmission,
  type AdmissionPolicy,
  computeCreditAfterHandshake,
  selectInitialCreditLimit,
  type AdmissionInput,
} from "./admission.ts";

const open: AdmissionPolicy = { blocked: [], allowed: null, maxPeers: 50 };
const self = { relayId: alpha.id, publicKey: alpha.publicKey };
const unknown: AdmissionInput = { self, known: null, livePeers: 0 };
const knownAs = (state: "pending" | "active" | "suspended" | "removed", key = beta.publicKey) => ({
  ...unknown,
  known: { state, publicKey: key, removedByOperator: false },
});
const removedByOperator = (key = beta.publicKey): AdmissionInput => ({
  ...unknown,
  known: { state: "removed", publicKey: key, removedByOperator: true },
});

describe("checkAdmission", () => {
  it.each<[string, AdmissionPolicy, AdmissionInput]>([
    ["an unknown relay without an allowlist", open, unknown],
    ["a relay on the allowlist", { ...open, allowed: [beta.id] }, unknown],
    ["a relay that proposes again before it confirmed", open, knownAs("pending")],
    ["a removed peer", open, knownAs("removed")],
    ["the fiftieth peer", open, { ...unknown, livePeers: 49 }],
  ])("%s is admitted", (_, policy, input) => {
    const admitted = checkAdmission({ relayId: beta.id, publicKey: beta.publicKey }, policy, input);
    expect(admitted).toEqual({ ok: true });
  });

  it.each<[string, AdmissionPolicy, AdmissionInput, string]>([
    ["a blocked relay (F10)", { ...open, blocked: [beta.id] }, unknown, "peer.blocked"],
    [
      "a relay that is not on the allowlist (F10)",
      { ...open, allowed: [gamma.id] },
      unknown,
      "peer.not_allowed",
    ],
    [
      "a relay that is blocked and allowed",
      { ...open, blocked: [beta.id], allowed: [beta.id] },
      unknown,
      "peer.blocked",
    ],
    ["the 51st peer (F10)", open, { ...unknown, livePeers: 50 }, "peer.limit_reached"],
    ["an active peer (F8)", open, knownAs("active"), "peer.exists"],
    ["a suspended peer", open, knownAs("suspended"), "peer.exists"],
    [
      "a relay with another peer's id (F8)",
      open,
      knownAs("active", gamma.publicKey),
      "peer.key_changed",
    ],
    [
      "a relay with a removed peer's id",
      open,
      knownAs("removed", gamma.publicKey),
      "peer.key_changed",
    ],
  ])("%s is not admitted", (_, policy, input, code) => {
    const admitted = checkAdmission({ relayId: beta.id, publicKey: beta.publicKey }, policy, input);
    expect(admitted).toEqual({ ok: false, code });
  });

  it.each([
    ["id", { relayId: alpha.id, publicKey: beta.publicKey }],
    ["key", { relayId: beta.id, publicKey: alpha.publicKey }],
  ])("a relay with this relay's own %s is not admitted (F8)", (_, peer) => {
    expect(checkAdmission(peer, open, unknown)).toEqual({ ok: false, code: "peer.own_identity" });
  });
});

describe("A3: a relay that the operator removed", () => {
  const peer = { relayId: beta.id, publicKey: beta.publicKey };
  const allowed = { ...open, allowed: [beta.id] };

  it.each<[string, AdmissionPolicy, AdmissionInput]>([
    ["may not propose", open, removedByOperator()],
    ["may not propose although it is on the allowlist", allowed, removedByOperator()],
    [
      "may not propose, which a full relay answers as well",
      open,
      { ...removedByOperator(), livePeers: 50 },
    ],
  ])("A3: a relay that the operator removed %s", (_, policy, input) => {
    expect(checkProposalAdmission(peer, policy, input)).toEqual({
      ok: false,
      code: "federation.peer_removed",
    });
  });

  it("a relay that the operator removed may be admitted by the operator", () => {
    expect(checkAdmission(peer, open, removedByOperator())).toEqual({ ok: true });
  });

  it("a relay that the operator removed may propose once the removal is lifted", () => {
    expect(checkProposalAdmission(peer, open, knownAs("removed"))).toEqual({ ok: true });
  });

  it("the removal of a relay is not revealed to one with its id and another key", () => {
    expect(checkProposalAdmission(peer, open, removedByOperator(gamma.publicKey))).toEqual({
      ok: false,
      code: "peer.key_changed",
    });
  });
});

describe("A3: of credit limits after a handshake,", () => {
  const left = { creditLimit: 5, isSetByOperator: false };
  const none = { creditLimit: 0, isSetByOperator: false };
  const set = { creditLimit: 5, isSetByOperator: true };
  const stopped = { creditLimit: 0, isSetByOperator: true };
  it.each([
    ["a new peer gets the initial one", null, false, 1_000, 1_000],
    ["a returning peer gets the one that it had", left, false, 1_000, 5],
    ["a peer without credit that the operator adds gets the initial one", none, true, 1_000, 1_000],
    ["a peer without credit that returns has none still", none, false, 1_000, 0],
    ["a peer that the operator adds anew keeps a lower one", left, true, 1_000, 5],
    ["a peer that the operator adds anew keeps a higher one", left, true, 3, 5],
    ["a peer whose limit the operator set keeps it when it is added", set, true, 1_000, 5],
    ["a peer whose limit the operator set keeps it when it returns", set, false, 1_000, 5],
    ["a peer whose limit the operator set to 0 has none when it is added", stopped, true, 1_000, 0],
    ["a peer whose limit the operator set to 0 has none when it returns", stopped, false, 1_000, 0],
  ])("A3: after a handshake, %s", (_, known, added, initial, expected) => {
    expect(computeCreditAfterHandshake(known, { added, initial })).toBe(expected);
  });
});

describe("the initial credit limit", () => {
  const untrusted = { added: false, allowed: false, autoAccept: false };

  it("the initial credit limit is 0 for an unknown relay", () => {
    expect(selectInitialCreditLimit(untrusted, { standard: 1000, none: 0 })).toBe(0);
  });

  it.each(["added", "allowed", "autoAccept"] as const)(
    "the initial credit limit is the default for a relay that is %s",
    (why) => {
      const trusted = { ...untrusted, [why]: true };
      expect(selectInitialCreditLimit(trusted, { standard: 1000, none: 0 })).toBe(1000);
    },
  );
});
