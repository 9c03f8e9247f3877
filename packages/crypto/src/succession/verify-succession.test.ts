import { describe, expect, test } from "vitest";
import { generateKeyPair, sign } from "#ed25519";
import { canonicalize } from "../json/canonical-json.ts";
import { bytesToHex, toBase64Url } from "../formats.ts";
import { signSuccession } from "./succession.ts";
import { verifySuccession } from "./verify-succession.ts";

const agentId = "019b7d21-53eb-7ccd-926c-3badff397897";
const otherId = "019b7d21-53eb-7ccd-926c-3badff397898";
const pair = (byte: number) => generateKeyPair(new Uint8Array(32).fill(byte));
const [first, second, third, stranger] = [pair(1), pair(2), pair(3), pair(4)];

const step = { agent_id: agentId, timestamp: 1_000, reason: "lost laptop" };
const record = signSuccession({
  ...step,
  oldSecretKey: first.secretKey,
  newSecretKey: second.secretKey,
});
const context = { agentId, currentPublicKey: first.publicKey };

/** Returns the record with some members changed, signed again by both keys. */
function signedAgain(changes: Record<string, unknown>, newSecretKey = second.secretKey) {
  const { old_key_signature: _old, new_key_signature: _new, ...members } = record;
  const body = { ...members, ...changes };
  return {
    ...body,
    old_key_signature: toBase64Url(sign(canonicalize(body), first.secretKey)),
    new_key_signature: toBase64Url(sign(canonicalize(body), newSecretKey)),
  };
}

describe("a succession is accepted", () => {
  test.each<[string, unknown]>([
    ["when both keys signed it", record],
    ["after a trip through JSON", JSON.parse(JSON.stringify(record))],
    ["without a reason", signedAgain({ reason: undefined })],
    ["with members this version does not know, since both keys signed them", signedAgain({ x: 1 })],
  ])("a succession is accepted %s", (_, value) => {
    expect(verifySuccession(value, context)).toEqual({ ok: true });
  });

  test("a succession that is later than the previous step is accepted", () => {
    expect(verifySuccession(record, { ...context, after: 999 })).toEqual({ ok: true });
  });
});

const byOne = { ...record, new_key_signature: record.old_key_signature };
const byOther = { ...record, old_key_signature: record.new_key_signature };
const byStrangers = signSuccession({
  ...step,
  oldSecretKey: stranger.secretKey,
  newSecretKey: second.secretKey,
});

describe("a succession is refused", () => {
  test.each<[string, unknown, string]>([
    ["signed by the old key only", byOne, "succession.new_key_signature_invalid"],
    ["signed by the new key only", byOther, "succession.old_key_signature_invalid"],
    ["signed by another pair", byStrangers, "succession.old_key_mismatch"],
    ["with a changed reason", { ...record, reason: "x" }, "succession.old_key_signature_invalid"],
    ["with an added member", { ...record, x: 1 }, "succession.old_key_signature_invalid"],
    ["for another agent", signedAgain({ agent_id: otherId }), "succession.agent_mismatch"],
    ["of another suite", signedAgain({ suite: "none" }), "succession.suite_unknown"],
    ["without a suite", signedAgain({ suite: undefined }), "succession.suite_unknown"],
    [
      "to the key it leaves",
      signedAgain({ new_public_key: record.old_public_key }, first.secretKey),
      "succession.key_reused",
    ],
    [
      "to a key of small order",
      signedAgain({ new_public_key: "00".repeat(32) }),
      "succession.new_key_refused",
    ],
    [
      "to a key that did not sign",
      signedAgain({ new_public_key: bytesToHex(third.publicKey) }),
      "succession.new_key_signature_invalid",
    ],
  ])("a succession is refused: %s", (_, value, code) => {
    expect(verifySuccession(value, context)).toEqual({ ok: false, code });
  });

  test("a succession that is replayed after it took effect is refused", () => {
    const later = { agentId, currentPublicKey: second.publicKey };
    expect(verifySuccession(record, later)).toEqual({
      ok: false,
      code: "succession.old_key_mismatch",
    });
  });

  test("a succession that returns to a former key is refused", () => {
    const left = { ...context, formerPublicKeys: [third.publicKey, second.publicKey] };
    expect(verifySuccession(record, left)).toEqual({ ok: false, code: "succession.key_reused" });
  });

  test.each([1_000, 1_001])(
    "a succession at 1000 is refused if the previous step was at %s",
    (after) => {
      expect(verifySuccession(record, { ...context, after })).toEqual({
        ok: false,
        code: "succession.timestamp_not_later",
      });
    },
  );
});

describe("a malformed succession", () => {
  test.each<[string, unknown]>([
    ["null", null],
    ["a text", JSON.stringify(record)],
    ["an array", [record]],
    ["no agent", { ...record, agent_id: undefined }],
    ["an agent that is no UUID", signedAgain({ agent_id: "agent" })],
    ["a key of 62 digits", { ...record, old_public_key: record.old_public_key.slice(2) }],
    ["a key of upper-case digits", { ...record, new_public_key: "AB".repeat(32) }],
    ["a key that is no text", { ...record, new_public_key: 1 }],
    ["a timestamp in text", { ...record, timestamp: "1000" }],
    ["a timestamp before the epoch", { ...record, timestamp: -1 }],
    ["a timestamp with a fraction", { ...record, timestamp: 0.5 }],
    ["a reason that is no text", { ...record, reason: {} }],
    ["a lone surrogate", { ...record, reason: "\ud800" }],
    ["a missing signature", { ...record, old_key_signature: undefined }],
    ["a padded signature", { ...record, new_key_signature: `${record.new_key_signature}==` }],
  ])("a succession is malformed: %s", (_, value) => {
    expect(verifySuccession(value, context)).toEqual({ ok: false, code: "succession.malformed" });
  });
});
