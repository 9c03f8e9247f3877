import { deriveAgentId } from "@agent/crypto";
import { expect, test } from "vitest";
import { alice, aliceId, bob, bobId } from "../../test/artifacts.ts";
import { findKeyFault, listKeysFor, type NamedKeys, type StatedSigner } from "./named-keys.ts";

const own = deriveAgentId(alice.publicKey);
const [key, other] = [alice.publicKey, bob.publicKey];
const [unbound, ended] = ["artifact.key_unbound", "bundle.key_not_in_force"] as const;
const minute = 60_000;

test.each<[string, NamedKeys, StatedSigner, string | undefined]>([
  ["named alone counts in every role", key, { role: "relay" }, undefined],
  [
    "named alone counts for an id that shows no key",
    key,
    { role: "agent", id: aliceId },
    undefined,
  ],
  ["named alone counts for the id that was made of it", key, { role: "agent", id: own }, undefined],
  [
    "named alone counts for no id that was made of another key",
    key,
    { role: "agent", id: deriveAgentId(other) },
    unbound,
  ],
  [
    "counts for the id that was made of the oldest key of its succession",
    key,
    { role: "agent", id: deriveAgentId(other), firstKey: other },
    undefined,
  ],
  ["that was not named does not count", other, {}, unbound],
  [
    "of an agent counts for an agent",
    [{ publicKey: key, role: "agent" }],
    { role: "agent" },
    undefined,
  ],
  [
    "of an agent counts for no relay",
    [{ publicKey: key, role: "agent" }],
    { role: "relay" },
    unbound,
  ],
  [
    "of a relay counts for no agent",
    [{ publicKey: key, role: "relay" }],
    { role: "agent" },
    unbound,
  ],
  ["of a relay counts where the role is open", [{ publicKey: key, role: "relay" }], {}, undefined],
  [
    "of one id counts for it",
    [{ publicKey: key, role: "agent", id: aliceId }],
    { role: "agent", id: aliceId },
    undefined,
  ],
  [
    "of one id counts for no other one",
    [{ publicKey: key, role: "agent", id: aliceId }],
    { role: "agent", id: bobId },
    unbound,
  ],
  [
    "of one id counts for it although the id was made of another key",
    [{ publicKey: key, role: "agent", id: deriveAgentId(other) }],
    { role: "agent", id: deriveAgentId(other) },
    undefined,
  ],
  [
    "of one id counts where the artifact states no id",
    [{ publicKey: key, role: "relay", id: aliceId }],
    { role: "relay" },
    undefined,
  ],
  [
    "counts for each owner that it was named for",
    [
      { publicKey: key, role: "agent", id: aliceId },
      { publicKey: key, role: "agent", id: bobId },
    ],
    { role: "agent", id: bobId },
    undefined,
  ],
  [
    "counts until five minutes after its end",
    [{ publicKey: key, endedAt: minute }],
    { signedAt: 6 * minute - 1 },
    undefined,
  ],
  [
    "does not count five minutes after its end",
    [{ publicKey: key, endedAt: minute }],
    { signedAt: 6 * minute },
    ended,
  ],
])("a key %s", (_, named, signer, fault) => {
  expect(findKeyFault(key, named, signer)).toBe(fault);
});

test("only the keys that count for a signer are listed", () => {
  const named: NamedKeys = [key, { publicKey: other, role: "relay" }];
  expect(listKeysFor(named, { role: "agent", id: own })).toEqual([key]);
  expect(listKeysFor(named, { role: "relay" })).toEqual([key, other]);
});
