import {
  bytesToHex,
  generateKeyPair,
  publicKeyToDidKey,
  signRelaySuccession,
  uuidV7,
} from "@agent/crypto";
import { expect, test } from "vitest";
import { checkRelayPins, type RelayPin } from "./check-relay-pins.ts";

const pairs = [1, 2, 3, 4].map((byte) => generateKeyPair(new Uint8Array(32).fill(byte)));
const [first = "", second = "", third = "", other = ""] = pairs.map(({ publicKey }) =>
  bytesToHex(publicKey),
);
const [relay_id, otherId] = [1, 2].map((byte) => uuidV7(1, new Uint8Array(10).fill(byte)));
if (relay_id === undefined || otherId === undefined) throw new Error("no ids");

const step = (from: number, to: number, id = relay_id) =>
  signRelaySuccession({
    relay_id: id,
    oldSecretKey: pairs[from]!.secretKey,
    newSecretKey: pairs[to]!.secretKey,
    timestamp: to,
  });
const chain = [step(0, 1), step(1, 2)];

/** A relay whose current key has this number. */
const stated = (key: number, succession?: readonly object[], id = relay_id) => ({
  relay_id: id,
  public_key: bytesToHex(pairs[key]!.publicKey),
  did: publicKeyToDidKey(pairs[key]!.publicKey),
  ...(succession && { succession }),
});

const named = (publicKey: string): RelayPin[] => [{ publicKey }];
const joined = (publicKey: string): RelayPin[] => [{ relayId: relay_id, publicKey }];

test.each<[string, RelayPin[], ReturnType<typeof stated>]>([
  ["without a pin any relay is accepted", [], stated(0)],
  ["the pinned key needs no chain", named(first), stated(0)],
  ["a chain leads from the first key", named(first), stated(2, chain)],
  ["a chain leads from a key in its middle", joined(second), stated(2, chain)],
  [
    "another relay has taken the address, and no key was named",
    joined(first),
    stated(3, undefined, otherId),
  ],
  [
    "the named key is old and the joined one newer",
    [...named(first), ...joined(second)],
    stated(2, chain),
  ],
])("D8: a relay is the pinned one: %s", (_, pins, relay) => {
  expect(checkRelayPins(pins, relay)).toEqual({ ok: true });
});

test.each<[string, RelayPin[], ReturnType<typeof stated>]>([
  ["another key without a chain", named(first), stated(3)],
  ["another key with the pinned relay's chain", named(first), stated(3, chain)],
  ["a chain that leaves the pinned key out", named(first), stated(2, [step(1, 2)])],
  [
    "a chain that is broken",
    named(first),
    stated(2, [step(0, 1), { ...step(1, 2), timestamp: 9 }]),
  ],
  ["a chain of another relay", named(first), stated(1, [step(0, 1)], otherId)],
  [
    "a key that the relay has left since it was joined",
    [...named(first), ...joined(third)],
    stated(0),
  ],
  ["an older key with a chain that was cut", joined(third), stated(1, [step(0, 1)])],
  [
    "another relay at the address of a named one",
    [...named(first), ...joined(first)],
    stated(3, undefined, otherId),
  ],
  ["a stranger's key", named(other), stated(2, chain)],
])("D8: a relay is not the pinned one: %s", (_, pins, relay) => {
  expect(checkRelayPins(pins, relay)).toEqual({ ok: false, code: "relay.key_changed" });
});

test("D8: a relay whose DID does not belong to its key is refused, because tokens are issued for the DID", () => {
  for (const change of [{ did: stated(1).did }, { public_key: "" }, { did: "" }]) {
    expect(checkRelayPins([], { ...stated(0), ...change })).toEqual({
      ok: false,
      code: "relay.identity_invalid",
    });
  }
});
