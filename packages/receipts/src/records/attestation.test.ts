import { SUITE } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import { alice, bob, buildSignedReceipt, taskId } from "../../test/fixtures.ts";
import {
  type VerifyAttestationOptions,
  hashReceipt,
  type RelayAttestationBody,
  signAttestation,
  verifyAttestation,
} from "../index.ts";

const body: RelayAttestationBody = {
  relay_id: "019b7d21-53eb-7c81-b2f1-000000000001",
  task_id: taskId,
  receipt_hash: hashReceipt(buildSignedReceipt()),
  received_at: 1_767_330_899_900,
  attested_at: 1_767_330_900_000,
};
const attested = signAttestation(body, alice.secretKey);
const known = { publicKey: alice.publicKey };
const codeOf = (change: object, options: VerifyAttestationOptions = known) =>
  verifyAttestation({ ...attested, ...change }, options).code;

describe("attestations", () => {
  test("an attestation is signed like a receipt, by the relay as an agent", () => {
    expect(attested).toMatchObject({ ...body, agent_id: body.relay_id, suite: SUITE });
    expect(verifyAttestation(attested, known)).toEqual({
      valid: true,
      checks: ["structure", "suite", "relay", "task", "receipt", "key", "signature"].map(
        (name) => ({ name, ok: true }),
      ),
      nested: [],
    });
  });

  test.each<[string, VerifyAttestationOptions, string | undefined]>([
    ["the relay it names", { relayId: body.relay_id }, undefined],
    ["another relay", { relayId: taskId }, "attestation.wrong_relay"],
    ["its task", { taskId }, undefined],
    ["another task", { taskId: body.relay_id }, "attestation.task_mismatch"],
    ["its receipt", { receiptHash: body.receipt_hash }, undefined],
    ["another receipt", { receiptHash: "0".repeat(64) }, "attestation.receipt_mismatch"],
    ["no key", { publicKey: undefined }, "attestation.key_missing"],
    ["another key", { publicKey: bob.publicKey }, "attestation.signature_invalid"],
    ["no key at all", { publicKey: "key" }, "attestation.signature_invalid"],
  ])("an attestation has the right verdict for %s", (_, options, code) => {
    expect(codeOf({}, { ...known, ...options })).toBe(code);
  });

  test("an attestation is valid if it is signed at the time of receipt", () => {
    const now = body.received_at;
    const prompt = signAttestation({ ...body, attested_at: now }, alice.secretKey);
    expect(verifyAttestation(prompt, known).valid).toBe(true);
  });

  test.each([
    ["task_id", "another", "signature_invalid"],
    ["receipt_hash", "0".repeat(64), "signature_invalid"],
    ["received_at", 0, "signature_invalid"],
    ["note", "added", "signature_invalid"],
    ["signature", `${attested.signature}A`, "signature_invalid"],
    ["agent_id", taskId, "wrong_relay"],
    ["suite", "agent-jcs-ed25519-b64-v2", "suite"],
    ["suite", undefined, "malformed"],
    ["relay_id", "relay", "malformed"],
    ["task_id", "", "malformed"],
    ["receipt_hash", "00", "malformed"],
    ["received_at", body.attested_at + 1, "malformed"],
    ["attested_at", 1.5, "malformed"],
    ["attested_at", Infinity, "malformed"],
    ["signature", undefined, "malformed"],
  ])("an attestation is refused with %s changed to %j", (member, value, reason) => {
    expect(codeOf({ [member]: value })).toBe(`attestation.${reason}`);
  });

  test.each([undefined, null, 1, "", [], [attested]])(
    "the value %j is refused as an attestation",
    (value) => {
      expect(verifyAttestation(value, known).code).toBe("attestation.malformed");
    },
  );
});
