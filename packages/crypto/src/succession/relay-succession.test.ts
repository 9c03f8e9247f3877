import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { generateKeyPair, sign } from "#ed25519";
import { canonicalize } from "../json/canonical-json.ts";
import { bytesToHex, hexToBytes, toBase64Url } from "../formats.ts";
import {
  type RelaySuccessionRecord,
  signRelaySuccession,
  findStepsAfter,
  verifyRelaySuccession,
} from "./relay-succession.ts";
import { signSuccession } from "./succession.ts";
import { verifySuccession } from "./verify-succession.ts";

const relayId = "019b7d21-53eb-7ccd-926c-3badff397897";
const otherId = "019b7d21-53eb-7ccd-926c-3badff397898";
const pairs = [1, 2, 3, 4].map((byte) => generateKeyPair(new Uint8Array(32).fill(byte)));
const keys = pairs.map(({ publicKey }) => bytesToHex(publicKey));

const step = (from: number, to: number, timestamp: number, relay_id = relayId) =>
  signRelaySuccession({
    relay_id,
    oldSecretKey: pairs[from]!.secretKey,
    newSecretKey: pairs[to]!.secretKey,
    timestamp,
  });

const chain = [step(0, 1, 10), step(1, 2, 20), step(2, 3, 30)];

/** Returns the first step with other members, signed again by both keys. */
function signedAgain(changes: object) {
  const { old_key_signature: _old, new_key_signature: _new, ...members } = chain[0]!;
  const body = { ...members, ...changes };
  const [oldKey, newKey] = [pairs[0]!.secretKey, pairs[1]!.secretKey];
  return {
    ...body,
    old_key_signature: toBase64Url(sign(canonicalize(body), oldKey)),
    new_key_signature: toBase64Url(sign(canonicalize(body), newKey)),
  };
}

describe("D8: the chain of a relay's keys", () => {
  test("D8: the chain of a relay's keys leads from any of its keys to the one in force", () => {
    expect(verifyRelaySuccession(chain, { relayId })).toEqual({ ok: true, publicKeys: keys });
    expect(findStepsAfter(chain, { relayId, publicKey: keys[0]! })).toEqual(chain);
    expect(findStepsAfter(chain, { relayId, publicKey: keys[1]! })).toEqual(chain.slice(1));
    expect(findStepsAfter(chain, { relayId, publicKey: keys[3]! })).toEqual([]);
  });

  test("D8: the chain of a relay's keys cannot be entered by a key outside of it", () => {
    expect(findStepsAfter(chain.slice(0, 2), { relayId, publicKey: keys[3]! })).toBeNull();
    expect(findStepsAfter([chain[0], chain[2]], { relayId, publicKey: keys[0]! })).toBeNull();
  });

  test("D8: a relay's chain without a step is the given key, and is refused without one", () => {
    const firstPublicKey = keys[0]!;
    expect(verifyRelaySuccession([], { relayId, firstPublicKey })).toEqual({
      ok: true,
      publicKeys: [firstPublicKey],
    });
    expect(verifyRelaySuccession([], { relayId })).toMatchObject({ code: "succession.malformed" });
  });

  test.each([
    ["begins at another key than the known one", [chain[1]], 0, "succession.old_key_mismatch"],
    ["leaves a step out", [chain[0], chain[2]], 1, "succession.old_key_mismatch"],
    ["repeats a step", [chain[0], chain[0]], 1, "succession.old_key_mismatch"],
    ["branches off", [chain[0], step(0, 3, 20)], 1, "succession.old_key_mismatch"],
    ["returns to a key that was left", [chain[0], step(1, 0, 20)], 1, "succession.key_reused"],
    ["goes back in time", [chain[0], step(1, 2, 10)], 1, "succession.timestamp_not_later"],
    ["is another relay's", [step(0, 1, 10, otherId)], 0, "succession.relay_mismatch"],
    [
      "has a changed member",
      [{ ...chain[0], timestamp: 9 }],
      0,
      "succession.old_key_signature_invalid",
    ],
    [
      "was signed by one key only",
      [{ ...chain[0], new_key_signature: chain[0]!.old_key_signature }],
      0,
      "succession.new_key_signature_invalid",
    ],
    ["holds something else", [chain[0], null], 1, "succession.malformed"],
    [
      "is longer than 32 steps",
      Array.from({ length: 33 }, () => chain[0]),
      32,
      "succession.too_long",
    ],
  ])("D8: a relay's chain that %s is refused", (_, records, index, code) => {
    const result = verifyRelaySuccession(records, { relayId, firstPublicKey: keys[0]! });
    expect(result).toEqual({ ok: false, code, index });
  });

  test("D8: a relay's chain accepts no agent's record, and an agent's chain accepts no relay's", () => {
    const ofAgent = signSuccession({
      agent_id: relayId,
      oldSecretKey: pairs[0]!.secretKey,
      newSecretKey: pairs[1]!.secretKey,
      timestamp: 10,
    });
    const both = signedAgain({ agent_id: relayId });
    for (const record of [ofAgent, both]) {
      expect(verifyRelaySuccession([record], { relayId })).toMatchObject({
        code: "succession.malformed",
      });
    }
    const context = { agentId: relayId, currentPublicKey: pairs[0]!.publicKey };
    for (const record of [chain[0], both]) {
      expect(verifySuccession(record, context)).toEqual({
        ok: false,
        code: "succession.malformed",
      });
    }
    expect(verifySuccession(ofAgent, context)).toEqual({ ok: true });
  });
});

interface Vector {
  readonly name: string;
  readonly first_public_key: string;
  readonly records: readonly unknown[];
  readonly expect: "accept" | "reject";
  readonly public_keys?: readonly string[];
  readonly code?: string;
  readonly index?: number;
}

describe("D8: vectors/own/relay-succession.json", () => {
  const file = new URL("../../../../vectors/own/relay-succession.json", import.meta.url);
  const vectors = JSON.parse(readFileSync(file, "utf8")) as {
    readonly relay_id: string;
    readonly seeds: readonly string[];
    readonly cases: readonly Vector[];
  };

  test.each(vectors.cases)("D8: the verdict on $name is $expect", (vector) => {
    const { records, first_public_key: firstPublicKey } = vector;
    const result = verifyRelaySuccession(records, { relayId: vectors.relay_id, firstPublicKey });
    const { public_keys: publicKeys, code, index } = vector;
    const isAccepted = vector.expect === "accept";
    expect(result).toEqual(isAccepted ? { ok: true, publicKeys } : { ok: false, code, index });
  });

  test("D8: the steps are signed by the seeds of the vectors", () => {
    const [oldSecretKey, newSecretKey] = vectors.seeds.map(hexToBytes) as [Uint8Array, Uint8Array];
    const record = vectors.cases[0]?.records[0] as RelaySuccessionRecord;
    const { relay_id, timestamp, reason = "" } = record;
    const again = { relay_id, oldSecretKey, newSecretKey, timestamp, reason };
    expect(signRelaySuccession(again)).toEqual(record);
  });
});
