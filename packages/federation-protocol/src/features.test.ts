import { describe, expect, it } from "vitest";
import { alpha, beta, buildDescription, NOW } from "../test/messages.ts";
import { supportsFeature } from "./features.ts";
import { toDescriptionMessage, parseDescription as read } from "./peering/relay-description.ts";
import { getHeartbeatClaims, createHeartbeat, verifyHeartbeat } from "./peering/heartbeat.ts";
import { applyPeerEvent, NEW_PEER } from "./peering/peer.ts";
import { isAnswerSigned, signAnswer } from "./signing/request-signature.ts";

const plain = { relay_id: alpha.id, timestamp: NOW, agent_count: 0 };
const full = createHeartbeat(
  {
    ...plain,
    to: beta.id,
    features: ["position", "of-tomorrow"],
    incarnation: 7,
    position: { amount: -0.95, under_way: false },
  },
  alpha.secretKey,
);

describe("H18: features", () => {
  it.each([
    [["position"], "position", true],
    [["position", "of-tomorrow"], "position", true],
    [["position"], "cancel", false],
    [[], "position", false],
  ] as const)(
    "a feature is supported by a peer that named %j, for %s: %s",
    (features, feature, expected) => {
      expect(supportsFeature({ features }, feature)).toBe(expected);
    },
  );

  it("a feature is read from a heartbeat that names its receiver, also if unknown", () => {
    expect(getHeartbeatClaims(full, beta.id)).toEqual({
      features: ["position", "of-tomorrow"],
      incarnation: 7,
      position: { amount: -950_000, underWay: false },
    });
  });

  it.each<[string, object]>([
    ["for another receiver", { ...full, to: alpha.id }],
    ["without a receiver", createHeartbeat({ ...plain, features: ["position"] }, alpha.secretKey)],
  ])("a feature is not accepted from a heartbeat %s", (_, heartbeat) => {
    expect(getHeartbeatClaims(heartbeat as typeof full, beta.id)).toBeNull();
  });

  it("a feature is missing in a heartbeat of the previous version", () => {
    const before = createHeartbeat({ ...plain, to: beta.id }, alpha.secretKey);
    expect(getHeartbeatClaims(before, beta.id)).toEqual({
      features: [],
      incarnation: 0,
      position: null,
    });
  });

  it.each<[string, object]>([
    ["features that are not a list", { features: "position" }],
    ["more than 100 features", { features: Array.from({ length: 101 }, (_, at) => `f${at}`) }],
    ["a negative incarnation", { incarnation: -1 }],
    ["a position with 7 decimals", { position: { amount: 0.1234567, under_way: false } }],
    ["a position without `under_way`", { position: { amount: 1 } }],
  ])("a feature is refused in a heartbeat with %s", (_, change) => {
    const context = { from: alpha.id, publicKey: alpha.publicKey, lastTimestamp: 0, now: NOW };
    expect(verifyHeartbeat(full, context).ok).toBe(true);
    expect(verifyHeartbeat({ ...full, ...change }, context)).toMatchObject({
      ok: false,
      code: "federation.malformed",
    });
  });

  it("a feature is part of a relay description only if it is named", () => {
    const plainly = buildDescription(alpha);
    expect(toDescriptionMessage(plainly)).not.toHaveProperty("features");
    const named = { ...plainly, features: ["position"] };
    expect(read(toDescriptionMessage(named))).toEqual(named);
  });
});

describe("H18: stored states of peers", () => {
  const heard = (claims: { features: readonly string[]; incarnation: number } | null) =>
    ({ type: "heartbeat", timestamp: NOW, agentCount: 0, now: NOW, claims }) as const;
  const active = applyPeerEvent(NEW_PEER, { type: "confirmed", features: ["position"] });

  it("the stored state of a peer starts with the features of the handshake and follows each signed heartbeat", () => {
    expect(active.features).toEqual(["position"]);
    expect(applyPeerEvent(active, heard({ features: [], incarnation: 0 })).features).toEqual([]);
    expect(applyPeerEvent(active, heard(null)).features).toEqual(["position"]);
  });

  it("the stored state of a peer holds each known feature once", () => {
    const named = { features: ["of-tomorrow", "cancel", "position", "cancel"], incarnation: 0 };
    expect(applyPeerEvent(active, heard(named)).features).toEqual(["position", "cancel"]);
    const { features } = applyPeerEvent(NEW_PEER, { type: "confirmed", features: named.features });
    expect(features).toEqual(["position", "cancel"]);
  });

  it("the stored state of a peer holds the highest incarnation, because a lower one is a copy or an older backup", () => {
    const later = applyPeerEvent(active, heard({ features: [], incarnation: 9 }));
    expect(applyPeerEvent(later, heard({ features: [], incarnation: 3 })).incarnation).toBe(9);
    expect(applyPeerEvent(later, { type: "confirmed" }).incarnation).toBe(9);
  });
});

describe("H18: signatures of answers", () => {
  const signature = signAnswer(full, alpha.secretKey);

  it("the signature of an answer verifies over the whole body, unknown members included", () => {
    expect(isAnswerSigned({ ...full }, signature, alpha.publicKey)).toBe(true);
  });

  it.each<[string, unknown, string | null, string]>([
    ["a changed member", { ...full, features: [] }, signature, alpha.publicKey],
    ["another key", full, signature, beta.publicKey],
    ["no signature", full, null, alpha.publicKey],
    ["a malformed signature", full, "AAAA", alpha.publicKey],
    ["no body", undefined, signature, alpha.publicKey],
  ])("the signature of an answer does not verify with %s", (_, body, given, key) => {
    expect(isAnswerSigned(body, given, key)).toBe(false);
  });
});
