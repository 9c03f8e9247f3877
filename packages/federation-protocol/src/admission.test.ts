import { describe, expect, it } from "vitest";
import { alpha, beta, gamma } from "../test/parties.ts";
import {
  admitPeer,
  type AdmissionPolicy,
  initialCreditLimit,
  type PeerStanding,
} from "./admission.ts";

const open: AdmissionPolicy = { blocked: [], allowed: null, maxPeers: 50 };
const self = { relayId: alpha.id, publicKey: alpha.publicKey };
const unknown: PeerStanding = { self, known: null, livePeers: 0 };
const knownAs = (state: "pending" | "active" | "suspended" | "removed", key = beta.publicKey) => ({
  ...unknown,
  known: { state, publicKey: key },
});

describe("A relay that wants to peer", () => {
  it.each<[string, AdmissionPolicy, PeerStanding]>([
    ["that is a stranger, without an allowlist", open, unknown],
    ["that is on the allowlist", { ...open, allowed: [beta.id] }, unknown],
    ["that proposes again before it confirmed", open, knownAs("pending")],
    ["that was removed", open, knownAs("removed")],
    ["that is the fiftieth", open, { ...unknown, livePeers: 49 }],
  ])("%s may", (_, policy, standing) => {
    const admitted = admitPeer({ relayId: beta.id, publicKey: beta.publicKey }, policy, standing);
    expect(admitted).toEqual({ ok: true });
  });

  it.each<[string, AdmissionPolicy, PeerStanding, string]>([
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
    const admitted = admitPeer({ relayId: beta.id, publicKey: beta.publicKey }, policy, standing);
    expect(admitted).toEqual({ ok: false, code });
  });

  it.each([
    ["id", { relayId: alpha.id, publicKey: beta.publicKey }],
    ["key", { relayId: beta.id, publicKey: alpha.publicKey }],
  ])("with this relay's own %s may not (F8)", (_, peer) => {
    expect(admitPeer(peer, open, unknown)).toEqual({ ok: false, code: "peer.own_identity" });
  });
});

describe("Peering is not credit:", () => {
  const nobody = { added: false, allowed: false, autoAccept: false };

  it("a stranger begins with none", () => {
    expect(initialCreditLimit(nobody, { standard: 1000, none: 0 })).toBe(0);
  });

  it.each(["added", "allowed", "autoAccept"] as const)("one that is %s has the default", (why) => {
    const trusted = { ...nobody, [why]: true };
    expect(initialCreditLimit(trusted, { standard: 1000, none: 0 })).toBe(1000);
  });
});
