import { describe, expect, test } from "vitest";
import { generateKeyPair } from "#ed25519";
import { signSuccession } from "./succession.ts";
import { verifySuccessionChain } from "./verify-succession-chain.ts";

const agentId = "019b7d21-53eb-7ccd-926c-3badff397897";
const pairs = [1, 2, 3, 4].map((byte) => generateKeyPair(new Uint8Array(32).fill(byte)));
const keys = pairs.map(({ publicKey }) => publicKey);

const step = (from: number, to: number, timestamp: number) =>
  signSuccession({
    agent_id: agentId,
    oldSecretKey: pairs[from]!.secretKey,
    newSecretKey: pairs[to]!.secretKey,
    timestamp,
  });

const chain = [step(0, 1, 10), step(1, 2, 20), step(2, 3, 30)];
const options = { agentId, firstPublicKey: keys[0]! };

describe("a chain of successions", () => {
  test("a chain of successions ends at the current key and lists the former ones", () => {
    expect(verifySuccessionChain(chain, options)).toEqual({
      ok: true,
      currentPublicKey: keys[3],
      formerPublicKeys: keys.slice(0, 3),
    });
  });

  test("a chain of successions without a step ends at its first key", () => {
    expect(verifySuccessionChain([], options)).toEqual({
      ok: true,
      currentPublicKey: keys[0],
      formerPublicKeys: [],
    });
  });

  test.each([
    ["with a step left out", [chain[0], chain[2]], 1, "succession.old_key_mismatch"],
    ["in another order", [chain[1], chain[0]], 0, "succession.old_key_mismatch"],
    ["with a step replayed", [chain[0], chain[0]], 1, "succession.old_key_mismatch"],
    ["back to an old key", [chain[0], step(1, 0, 20)], 1, "succession.key_reused"],
    ["back in time", [chain[0], step(1, 2, 10)], 1, "succession.timestamp_not_later"],
    ["with a step that is none", [chain[0], null], 1, "succession.malformed"],
  ])("a chain of successions %s is refused at the invalid step", (_, records, index, code) => {
    expect(verifySuccessionChain(records, options)).toEqual({ ok: false, code, index });
  });
});
