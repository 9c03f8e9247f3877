import { describe, expect, it } from "vitest";
import {
  isLive,
  mayConcludeTasks,
  isPeeringEnded,
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
      "2 missed heartbeats, one received and 2 missed",
      [...times(2, missed), heard, ...times(2, missed)],
      "active",
    ],
    ["3 missed heartbeats and one received", [...times(3, missed), heard], "active"],
    ["4 missed heartbeats", times(4, missed), "suspended"],
    ["5 missed heartbeats", times(5, missed), "removed"],
    ["5 missed heartbeats and one received", [...times(5, missed), heard], "removed"],
    ["an open circuit", times(6, failed), "suspended"],
    ["an open circuit and one heartbeat", [...times(6, failed), heard], "active"],
    [
      "an open circuit, one heartbeat and a failure",
      [...times(6, failed), heard, failed],
      "active",
    ],
    [
      "an open circuit and 5 missed heartbeats",
      [...times(6, failed), ...times(5, missed)],
      "removed",
    ],
    ["a removal notice", [{ type: "removal", timestamp: 8 }], "removed"],
    [
      "a removal and any events but a handshake",
      [{ type: "removal" }, heard, failed, missed],
      "removed",
    ],
    ["a removal and a new handshake", [{ type: "removal" }, { type: "confirmed" }], "active"],
  ])("a peer has the specified state after %s (F19)", (_, events, state) => {
    expect(after(active, ...events).state).toBe(state);
  });

  const expelled: PeerEvent = { type: "removal", byOperator: true };
  const notice: PeerEvent = { type: "removal", timestamp: 8 };
  const shaken: PeerEvent = { type: "confirmed" };
  const admitted: PeerEvent = { type: "confirmed", byOperator: true };
  it.each<[string, readonly PeerEvent[], string, boolean]>([
    ["a removal by the operator", [expelled], "removed", true],
    ["a removal by the operator and its own handshake", [expelled, shaken], "removed", true],
    ["a removal by the operator and its own notice", [expelled, notice, shaken], "removed", true],
    [
      "a removal by the operator and missed heartbeats",
      [expelled, ...times(5, missed), heard, shaken],
      "removed",
      true,
    ],
    [
      "its own notice and then a removal by the operator",
      [notice, expelled, shaken],
      "removed",
      true,
    ],
    ["a removal and a handshake by the operator", [expelled, admitted], "active", false],
    [
      "a removal by the operator, readmission, a notice and its handshake",
      [expelled, admitted, heard, notice, shaken],
      "active",
      false,
    ],
    [
      "two removals by the operator with a readmission between them",
      [expelled, admitted, expelled, shaken],
      "removed",
      true,
    ],
    [
      "a removal and an admission by the operator",
      [expelled, { type: "admitted" }],
      "removed",
      false,
    ],
    [
      "a removal and an admission by the operator and its own handshake",
      [expelled, { type: "admitted" }, shaken],
      "active",
      false,
    ],
    ["an admission without a removal", [{ type: "admitted" }], "active", false],
    ["its own notice and its handshake", [notice, shaken], "active", false],
    ["missed heartbeats and its handshake", [...times(5, missed), shaken], "active", false],
  ])(
    "A3: a peer after %s is %s, and whether only the operator can add it is %s",
    (_, events, state, removedByOperator) => {
      expect(after(active, ...events)).toMatchObject({ state, removedByOperator });
    },
  );

  it("the values of a peer's heartbeat and the latest time that it signed are kept", () => {
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
    ["pending", false, false, false],
    ["active", true, true, true],
    ["suspended", true, false, true],
    ["removed", false, false, true],
  ] as const)(
    "a peer in the state %s may send requests: %s, and receive them: %s, and conclude tasks: %s",
    (state, live, usable, concludes) => {
      expect([isLive({ state }), isUsable({ state })]).toEqual([live, usable]);
      expect(mayConcludeTasks({ state })).toBe(concludes);
    },
  );

  it.each<[string, PeerEvent[], boolean]>([
    ["a removal by the operator", [{ type: "removal", byOperator: true }], true],
    ["its own notice", [{ type: "removal", timestamp: 8 }], true],
    ["a missed heartbeat and its own notice", [missed, { type: "removal", timestamp: 8 }], true],
    ["its own notice and its handshake", [{ type: "removal" }, { type: "confirmed" }], false],
    ["missed heartbeats that removed it", times(5, missed), false],
    ["missed heartbeats that suspended it", times(3, missed), false],
    ["a heartbeat", [heard], false],
  ])("FE31: a peering after %s was ended by an operator: %s", (_, events, isEnded) => {
    expect(isPeeringEnded(after(active, ...events))).toBe(isEnded);
  });

  it("a peer in the state pending does not become active by a heartbeat", () => {
    expect(applyPeerEvent(NEW_PEER, heard)).toBe(NEW_PEER);
  });
});
