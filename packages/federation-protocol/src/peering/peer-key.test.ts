import { bytesToHex, generateKeyPair, signRelaySuccession } from "@agent/crypto";
import { describe, expect, it } from "vitest";
import { updatePeerPin, listPinnedKeys, type PeerPin } from "./peer-key.ts";

const relayId = "0199c800-0000-7000-8000-000000000010";
const otherId = "0199c800-0000-7000-8000-000000000011";
const pairs = [1, 2, 3, 4].map((byte) => generateKeyPair(new Uint8Array(32).fill(byte)));
const keys = pairs.map(({ publicKey }) => bytesToHex(publicKey));

const step = (from: number, to: number, timestamp: number, relay_id = relayId) =>
  signRelaySuccession({
    relay_id,
    oldSecretKey: pairs[from]!.secretKey,
    newSecretKey: pairs[to]!.secretKey,
    timestamp,
  });

const chain = [step(0, 1, 10), step(1, 2, 20)];
const stated = (succession: readonly unknown[], key: number, agent_id = relayId) => ({
  agent_id,
  public_key: keys[key]!,
  succession,
});
const pin: PeerPin = { relayId, publicKey: keys[0]!, succession: [] };

describe("D8: the pin of a peer's key", () => {
  it("D8: a pin follows a whole chain at once, and step by step to the same key", () => {
    const whole = updatePeerPin(pin, stated(chain, 2));
    expect(whole).toEqual({ ok: true, pin: { ...pin, publicKey: keys[2], succession: chain } });
    const first = updatePeerPin(pin, stated(chain.slice(0, 1), 1));
    expect(first.ok && updatePeerPin(first.pin, stated(chain, 2))).toEqual(whole);
    expect(whole.ok && listPinnedKeys(whole.pin)).toEqual(keys.slice(0, 3));
  });

  it("D8: a pin stays while the peer states the same key", () => {
    expect(updatePeerPin(pin, stated([], 0))).toEqual({ ok: true, pin });
    expect(updatePeerPin(pin, { agent_id: relayId, public_key: keys[0]! })).toEqual({
      ok: true,
      pin,
    });
  });

  const moved: PeerPin = { relayId, publicKey: keys[1]!, succession: chain.slice(0, 1) };

  it.each<[string, PeerPin, ReturnType<typeof stated>]>([
    ["without a chain", pin, stated([], 1)],
    ["back to a replaced key", moved, stated([], 0)],
    ["by a chain that it has followed already", moved, stated([step(0, 2, 20)], 2)],
    ["by a branch from a former key", moved, stated([step(0, 3, 20)], 3)],
    ["by a chain that omits the pinned key", pin, stated([step(1, 2, 20)], 2)],
    ["to another key than the chain's last", pin, stated(chain, 3)],
    ["to a key in the middle of the chain", pin, stated(chain, 1)],
    ["by another relay's chain", pin, stated([step(0, 1, 10, otherId)], 1)],
    ["by another relay's document", pin, stated(chain, 2, otherId)],
    ["by a forged step", pin, stated([{ ...chain[0], timestamp: 11 }], 1)],
    ["by no record", pin, stated([null], 1)],
  ])("D8: a pin does not move %s", (_, known, document) => {
    expect(updatePeerPin(known, document)).toEqual({ ok: false, code: "peer.key_changed" });
  });
});
