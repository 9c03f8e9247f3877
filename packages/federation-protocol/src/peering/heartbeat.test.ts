import { describe, expect, it } from "vitest";
import { alpha, beta, NOW } from "../../test/messages.ts";
import { createHeartbeat, verifyHeartbeat } from "./heartbeat.ts";
import { createRemoval, verifyRemoval } from "./removal.ts";
import { signText } from "../signing/signed-text.ts";

const context = {
  from: alpha.id,
  publicKey: alpha.publicKey,
  lastTimestamp: NOW - 60_000,
  now: NOW,
};
const members = { relay_id: alpha.id, timestamp: NOW, agent_count: 2 };
const heartbeat = createHeartbeat(members, alpha.secretKey);
const removal = createRemoval({ relay_id: alpha.id, timestamp: NOW }, alpha.secretKey);

describe("heartbeats (F19)", () => {
  it("a heartbeat is signed over the concatenation of the relay's id and the decimal time", () => {
    expect(heartbeat.signature).toBe(signText(`${alpha.id}${NOW}`, alpha.secretKey));
    expect(verifyHeartbeat(heartbeat, context)).toEqual({ ok: true, heartbeat });
  });

  it.each<[string, unknown, Partial<typeof context>, string]>([
    ["sent again", heartbeat, { lastTimestamp: NOW }, "peer.timestamp_stale"],
    ["older than the last one", heartbeat, { lastTimestamp: NOW + 1 }, "peer.timestamp_stale"],
    ["of the future", heartbeat, { now: NOW - 300_001 }, "federation.timestamp_expired"],
    ["of the past", heartbeat, { now: NOW + 300_001 }, "federation.timestamp_expired"],
    ["of another relay", heartbeat, { from: beta.id }, "federation.wrong_sender"],
    [
      "with a changed time",
      { ...heartbeat, timestamp: NOW + 1 },
      {},
      "federation.signature_invalid",
    ],
    ["under another key", heartbeat, { publicKey: beta.publicKey }, "federation.signature_invalid"],
    [
      "with an id that is not a UUID (F20)",
      { ...heartbeat, relay_id: "1" },
      {},
      "federation.malformed",
    ],
    [
      "with a time that is not a number",
      { ...heartbeat, timestamp: String(NOW) },
      {},
      "federation.malformed",
    ],
    ["with a negative count", { ...heartbeat, agent_count: -1 }, {}, "federation.malformed"],
    ["that is a list", [], {}, "federation.malformed"],
  ])("a heartbeat is refused %s", (_, value, change, code) => {
    expect(verifyHeartbeat(value, { ...context, ...change })).toMatchObject({ ok: false, code });
  });
});

describe("removal notices", () => {
  it("a removal notice is signed over the canonical JSON of its other members, unknown ones included", () => {
    expect(verifyRemoval(removal, context)).toEqual({ ok: true, removal });
    const more = createRemoval({ ...removal, reason: "bye" } as typeof removal, alpha.secretKey);
    expect(verifyRemoval(more, context).ok).toBe(true);
  });

  it.each<[string, unknown, Partial<typeof context>, string]>([
    [
      "with the signature of a heartbeat",
      { ...removal, signature: heartbeat.signature },
      {},
      "federation.signature_invalid",
    ],
    [
      "that repeats a notice from before the latest heartbeat",
      removal,
      { lastTimestamp: NOW },
      "peer.timestamp_stale",
    ],
    ["in another's name", removal, { from: beta.id }, "federation.wrong_sender"],
    ["that is old", removal, { now: NOW + 300_001 }, "federation.timestamp_expired"],
  ])("a removal notice is refused %s", (_, value, change, code) => {
    expect(verifyRemoval(value, { ...context, ...change })).toMatchObject({ ok: false, code });
  });
});
