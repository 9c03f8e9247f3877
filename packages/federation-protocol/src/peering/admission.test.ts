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
  known: { state, publicKey: key, operatorRemoval: null },
});
const removedByOperator = (key = beta.publicKey): AdmissionInput => ({
  ...unknown,
  known: { state: "removed", publicKey: key, operatorRemoval: "in_force" },
});

describe("A relay that wants to peer", () => {
  it.each<[string, AdmissionPolicy, AdmissionInput]>([
    ["that is a stranger, without an allowlist", open, unknown],
    ["that is on the allowlist", { ...open, allowed: [beta.id] }, unknown],
    ["that proposes again before it confirmed", open, knownAs("pending")],
    ["that was removed", open, knownAs("removed")],
    ["that is the fiftieth", open, { ...unknown, livePeers: 49 }],
  ])("%s may", (_, policy, standing) => {
    const admitted = checkAdmission(
      { relayId: beta.id, publicKey: beta.publicKey },
      policy,
      standing,
    );
    expect(admitted).toEqual({ ok: true });
  });

  it.each<[string, AdmissionPolicy, AdmissionInput, string]>([
    ["that is blocked (F10)", { ...open, blocked: [beta.id] }, unknown, "peer.blocked"],
    [
      "that is not on the allowlist (F10)",
      { ...open, allowed: [gamma.id] },
      unknown,
      "peer.not_allowed",
    ],
    [
      "that is blocked and allowed",
      { ...open, blocked: [beta.id], allowed: [beta.id] },
      unknown,
      "peer.blocked",
    ],
    ["that is the 51st (F10)", open, { ...unknown, livePeers: 50 }, "peer.limit_reached"],
    ["that is active already (F8)", open, knownAs("active"), "peer.exists"],
    ["that is suspended", open, knownAs("suspended"), "peer.exists"],
    ["whose id is another's (F8)", open, knownAs("active", gamma.publicKey), "peer.key_changed"],
    ["whose id was another's", open, knownAs("removed", gamma.publicKey), "peer.key_changed"],
  ])("%s may not", (_, policy, standing, code) => {
    const admitted = checkAdmission(
      { relayId: beta.id, publicKey: beta.publicKey },
      policy,
      standing,
    );
    expect(admitted).toEqual({ ok: false, code });
  });

  it.each([
    ["id", { relayId: alpha.id, publicKey: beta.publicKey }],
    ["key", { relayId: beta.id, publicKey: alpha.publicKey }],
  ])("with this relay's own %s may not (F8)", (_, peer) => {
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
      "may not propose, and is told so also by a full relay",
      open,
      { ...removedByOperator(), livePeers: 50 },
    ],
  ])("%s", (_, policy, standing) => {
    expect(checkProposalAdmission(peer, policy, standing)).toEqual({
      ok: false,
      code: "federation.peer_removed",
    });
  });

  it("may be admitted by the operator", () => {
    expect(checkAdmission(peer, open, removedByOperator())).toEqual({ ok: true });
  });

  it("may propose once that was lifted, like one that left by itself", () => {
    for (const operatorRemoval of ["lifted", null] as const) {
      const known = { state: "removed", publicKey: beta.publicKey, operatorRemoval } as const;
      expect(checkProposalAdmission(peer, open, { ...unknown, known })).toEqual({ ok: true });
    }
  });

  it("is not named to a relay with another key under its id", () => {
    expect(checkProposalAdmission(peer, open, removedByOperator(gamma.publicKey))).toEqual({
      ok: false,
      code: "peer.key_changed",
    });
  });
});

describe("A3: the credit limit after a handshake", () => {
  const left = { creditLimit: 5, operatorRemoval: null };
  const once = { creditLimit: 5, operatorRemoval: "lifted" } as const;
  const removed = { creditLimit: 5, operatorRemoval: "in_force" } as const;
  it.each([
    ["of a new peer is the initial one", null, false, 1_000, 1_000],
    ["of a peer that is back is the one that it had", left, false, 1_000, 5],
    ["of a peer that the operator adds anew is at least the initial one", left, true, 1_000, 1_000],
    ["of a peer that the operator adds anew does not fall", left, true, 3, 5],
    ["of a removed peer that the operator adds is the operator's", removed, true, 1_000, 5],
    ["of a once removed peer that the operator adds is the operator's", once, true, 1_000, 5],
    ["of a once removed peer that is back is the operator's", once, false, 1_000, 5],
  ])("%s", (_, known, added, initial, expected) => {
    expect(computeCreditAfterHandshake(known, { added, initial })).toBe(expected);
  });
});

describe("Peering is not credit:", () => {
  const nobody = { added: false, allowed: false, autoAccept: false };

  it("a stranger begins with none", () => {
    expect(selectInitialCreditLimit(nobody, { standard: 1000, none: 0 })).toBe(0);
  });

  it.each(["added", "allowed", "autoAccept"] as const)("one that is %s has the default", (why) => {
    const trusted = { ...nobody, [why]: true };
    expect(selectInitialCreditLimit(trusted, { standard: 1000, none: 0 })).toBe(1000);
  });
});
