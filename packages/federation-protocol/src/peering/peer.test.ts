import { describe, expect, it } from "vitest";
import {
  isLive,
  isUsable,
  applyPeerEvent,
  NEW_PEER,
  type PeerEvent,
  type PeerRecord,
} from "./peer.ts";

const missed: PeerEvent = { type: "heartbeat_missed" };
const heard: PeerEvent = { type: "heartbeat", timestamp: 7, agentCount: 3, now: 9 };
const failed: PeerEvent = { type: "forward", succeeded: false };
const active = applyPeerEvent(NEW_PEER, { type: "confirmed" });

const after = (peer: PeerRecord, ...events: readonly PeerEvent[]) =>
  events.reduce(applyPeerEvent, peer);
const times = (count: number, event: PeerEvent) => Array.from({ length: count }, () => event);

describe("A peer", () => {
  it.each<[string, readonly PeerEvent[], string]>([
    ["2 missed heartbeats", times(2, missed), "active"],
    ["3 missed heartbeats", times(3, missed), "suspended"],
    [
      "2 missed, one heard and 2 missed",
      [...times(2, missed), heard, ...times(2, missed)],
      "active",
    ],
    ["3 missed and one heard", [...times(3, missed), heard], "active"],
    ["4 missed heartbeats", times(4, missed), "suspended"],
    ["5 missed heartbeats", times(5, missed), "removed"],
    ["5 missed and one heard", [...times(5, missed), heard], "removed"],
    ["a broken forward path", times(6, failed), "suspended"],
    ["a broken forward path and one heartbeat", [...times(6, failed), heard], "active"],
    [
      "a broken forward path, one heartbeat and a failure",
      [...times(6, failed), heard, failed],
      "active",
    ],
    [
      "a broken forward path and 5 missed heartbeats",
      [...times(6, failed), ...times(5, missed)],
      "removed",
    ],
    ["a removal notice", [{ type: "removal", timestamp: 8 }], "removed"],
    [
      "a removal and anything but a handshake",
      [{ type: "removal" }, heard, failed, missed],
      "removed",
    ],
    ["a removal and a new handshake", [{ type: "removal" }, { type: "confirmed" }], "active"],
  ])("after %s is as the specification says (F19)", (_, events, state) => {
    expect(after(active, ...events).state).toBe(state);
  });

  const expelled: PeerEvent = { type: "removal", byOperator: true };
  const notice: PeerEvent = { type: "removal", timestamp: 8 };
  const shaken: PeerEvent = { type: "confirmed" };
  const admitted: PeerEvent = { type: "confirmed", byOperator: true };
  it.each<[string, readonly PeerEvent[], string, string | null]>([
    ["a removal by the operator", [expelled], "removed", "in_force"],
    ["that and its own handshake", [expelled, shaken], "removed", "in_force"],
    ["that and its own notice", [expelled, notice, shaken], "removed", "in_force"],
    [
      "that and missed heartbeats",
      [expelled, ...times(5, missed), heard, shaken],
      "removed",
      "in_force",
    ],
    ["its own notice and then that", [notice, expelled, shaken], "removed", "in_force"],
    ["that and a handshake by the operator", [expelled, admitted], "active", "lifted"],
    [
      "that, its readmission, a notice and its handshake",
      [expelled, admitted, heard, notice, shaken],
      "active",
      "lifted",
    ],
    [
      "that, its readmission and that again",
      [expelled, admitted, expelled, shaken],
      "removed",
      "in_force",
    ],
    [
      "that and an admission by the operator",
      [expelled, { type: "admitted" }],
      "removed",
      "lifted",
    ],
    [
      "that, an admission and its own handshake",
      [expelled, { type: "admitted" }, shaken],
      "active",
      "lifted",
    ],
    ["an admission without a removal", [{ type: "admitted" }], "active", null],
    ["its own notice and its handshake", [notice, shaken], "active", null],
    ["missed heartbeats and its handshake", [...times(5, missed), shaken], "active", null],
  ])(
    "A3: after %s is %s, and the operator's removal is %s",
    (_, events, state, operatorRemoval) => {
      expect(after(active, ...events)).toMatchObject({ state, operatorRemoval });
    },
  );

  it("keeps what its heartbeat told, and the latest time that it signed", () => {
    const peer = after(active, heard, missed);
    expect(peer).toMatchObject({
      agentCount: 3,
      lastHeartbeatAt: 9,
      lastTimestamp: 7,
      missedHeartbeats: 1,
    });
    const back = after(peer, { type: "removal", timestamp: 8 }, { type: "confirmed" });
    expect(back).toMatchObject({ lastTimestamp: 8, missedHeartbeats: 0, forwards: [] });
  });

  it.each([
    ["pending", false, false],
    ["active", true, true],
    ["suspended", true, false],
    ["removed", false, false],
  ] as const)("that is %s is heard: %s, and asked or sent work: %s", (state, live, usable) => {
    expect([isLive({ state }), isUsable({ state })]).toEqual([live, usable]);
  });

  it("that is pending does not come alive by a heartbeat", () => {
    expect(applyPeerEvent(NEW_PEER, heard)).toBe(NEW_PEER);
  });
});
