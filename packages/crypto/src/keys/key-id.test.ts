import { readFileSync } from "node:fs";
import { generateKeyPair } from "#ed25519";
import { describe, expect, test } from "vitest";
import { bytesToHex, EncodingError } from "../formats.ts";
import { deriveAgentId, isAgentIdOfKey, isKeyDerivedId, verifyAgentIdKey } from "./key-id.ts";
import { signSuccession } from "../succession/succession.ts";
import { isUuid } from "./uuid-v7.ts";

interface Case {
  readonly id: number;
  readonly agent_id: string;
  readonly public_key: string;
  readonly expect: "valid" | "invalid";
  readonly why: string;
}

const vectors = new URL("../../../../vectors/own/agent-ids.jsonl", import.meta.url);
const cases = readFileSync(vectors, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Case);

test.each(cases)("D1: vector $id of ids and keys is $expect: $why", (vector) => {
  expect(isAgentIdOfKey(vector.agent_id, vector.public_key)).toBe(vector.expect === "valid");
});

test("D1: the vectors hold both kinds of cases", () => {
  expect(new Set(cases.map((vector) => vector.expect))).toEqual(new Set(["valid", "invalid"]));
});

const pairs = [1, 2, 3].map((byte) => generateKeyPair(new Uint8Array(32).fill(byte)));
const keys = pairs.map(({ publicKey }) => bytesToHex(publicKey));
const [first = "", second = "", third = ""] = keys;
const agentId = deriveAgentId(first);

const step = (from: number, to: number, timestamp: number, id = agentId) =>
  signSuccession({
    agent_id: id,
    oldSecretKey: pairs[from]!.secretKey,
    newSecretKey: pairs[to]!.secretKey,
    timestamp,
  });

test("D1: the id of a key is a UUID of version 8 and the same at each call", () => {
  expect(isUuid(agentId)).toBe(true);
  expect(isKeyDerivedId(agentId)).toBe(true);
  expect(deriveAgentId(first)).toBe(agentId);
  expect(new Set(keys.map(deriveAgentId)).size).toBe(3);
});

test("D1: a key in another notation has no id", () => {
  for (const key of [first.toUpperCase(), first.slice(2), `0x${first}`, ""]) {
    expect(() => deriveAgentId(key)).toThrow(EncodingError);
  }
});

test("D1: ids of version 4 and 7 and malformed ids are not derived from keys", () => {
  for (const id of [
    "019b7d21-53eb-7ccd-926c-3badff397897",
    "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "00000000-0000-8000-0000-000000000000",
    "",
  ]) {
    expect(isKeyDerivedId(id)).toBe(false);
  }
});

describe("D1: the current key of an id of version 8", () => {
  const other = deriveAgentId(second);

  test.each<[string, string, readonly unknown[], string | undefined]>([
    ["is the key that the id was made of", first, [], undefined],
    ["is the end of one succession record from it", second, [step(0, 1, 10)], undefined],
    ["is the end of a chain", third, [step(0, 1, 10), step(1, 2, 20)], undefined],
    ["is no other key", second, [], "agent.id_not_of_key"],
    ["is no key before the end of its chain", first, [step(0, 1, 10)], "agent.id_not_of_key"],
    ["is no end of a chain from another key", third, [step(1, 2, 10)], "agent.id_not_of_key"],
    [
      "is no end of a chain for another id",
      second,
      [step(0, 1, 10, other)],
      "succession.agent_mismatch",
    ],
    [
      "is no end of a chain in another order",
      third,
      [step(0, 1, 20), step(1, 2, 10)],
      "succession.timestamp_not_later",
    ],
    [
      "is no end of a chain with a missing record",
      third,
      [step(0, 1, 10), step(0, 2, 20)],
      "succession.old_key_mismatch",
    ],
    ["is no end of a record that is none", second, [null], "agent.id_not_of_key"],
    [
      "is no end of a record that the new key did not sign",
      second,
      [{ ...step(0, 1, 10), new_key_signature: step(0, 1, 10).old_key_signature }],
      "succession.new_key_signature_invalid",
    ],
  ])("D1: the current key of an id of version 8 %s", (_, key, chain, code) => {
    const expected = code === undefined ? { ok: true } : { ok: false, code };
    expect(verifyAgentIdKey(agentId, key, chain)).toEqual(expected);
  });
});
