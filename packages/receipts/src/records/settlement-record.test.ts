import { hexToDidKey, SUITE } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import { alice, bob, buildSignedReceipt, taskId } from "../../test/fixtures.ts";
import {
  hashReceipt,
  type SettlementRecordBody,
  signSettlementRecord,
  verifySettlementRecord,
} from "../index.ts";

const record: SettlementRecordBody = {
  settlement_id: "019b7d21-53eb-7c81-b2f1-000000000001",
  allocation_id: "019b7d21-53eb-7c81-b2f1-000000000002",
  task_id: taskId,
  payer_id: "019b7d21-53eb-7ccd-926c-000000000003",
  payee_id: "019b7d21-53eb-7ccd-926c-3badff397897",
  receipt_hash: hashReceipt(buildSignedReceipt()),
  ledger_hash: null,
  amount_settled: 2,
  fee: 0.1,
  net: 1.9,
  status: "completed",
  settled_at: 1_767_330_899_900,
  issuer: hexToDidKey(alice.publicKey),
};
const settled = signSettlementRecord(record, alice.secretKey);

describe("settlement records", () => {
  test("a settlement record is signed like a receipt and names its signer", () => {
    expect(settled).toMatchObject({ ...record, suite: SUITE });
    expect(verifySettlementRecord(settled)).toEqual({
      valid: true,
      checks: ["structure", "suite", "issuer", "signature"].map((name) => ({ name, ok: true })),
      nested: [],
    });
  });

  test("a settlement record may name the outcome of an inspection, which its signature covers", () => {
    const inspected = signSettlementRecord(
      { ...record, outcome_hash: "1".repeat(64) },
      alice.secretKey,
    );
    expect(verifySettlementRecord(inspected).valid).toBe(true);
    const other = { ...inspected, outcome_hash: "2".repeat(64) };
    expect(verifySettlementRecord(other).code).toBe("settlement.signature_invalid");
    const malformed = { ...inspected, outcome_hash: "1" };
    expect(verifySettlementRecord(malformed).code).toBe("settlement.malformed");
  });

  test("a settlement record may be required of one relay", () => {
    expect(verifySettlementRecord(settled, { publicKey: alice.publicKey }).valid).toBe(true);
    expect(verifySettlementRecord(settled, { publicKey: bob.publicKey }).code).toBe(
      "settlement.wrong_issuer",
    );
  });

  test("a settlement record is read once, however many keys of its relay are tried", () => {
    let reads = 0;
    const counted = Object.defineProperty({ ...settled }, "note", {
      enumerable: true,
      get: () => (reads += 1),
    });
    const relayKeys = [alice.publicKey, ...Array.from({ length: 32 }, () => bob.publicKey)];
    expect(verifySettlementRecord(counted, { relayKeys }).code).toBe(
      "settlement.signature_invalid",
    );
    expect(reads).toBe(1);
  });

  test("a settlement record may have an on-chain proof and unnamed members", () => {
    const more = { ...record, x402_tx_hash: "0x1", x402_network: "eip155:84532", note: [1] };
    expect(verifySettlementRecord(signSettlementRecord(more, alice.secretKey)).valid).toBe(true);
  });

  test("a settlement record is refused if another key than its issuer's signed", () => {
    expect(verifySettlementRecord(signSettlementRecord(record, bob.secretKey)).code).toBe(
      "settlement.signature_invalid",
    );
  });

  test.each(["suite", "", "agent-jcs-ed25519-b64-v2"])(
    "a settlement record is refused with the suite %j",
    (suite) => {
      expect(verifySettlementRecord({ ...settled, suite }).code).toBe("settlement.suite");
    },
  );

  test.each([
    ["task_id", "another"],
    ["payee_id", "another"],
    ["receipt_hash", "0".repeat(64)],
    ["ledger_hash", "0".repeat(64)],
    ["amount_settled", 3],
    ["fee", 0],
    ["net", 2],
    ["status", "partial"],
    ["settled_at", 0],
    ["note", "added"],
    ["signature", `${settled.signature}A`],
  ])("a settlement record is refused with %s changed to %j after signing", (member, value) => {
    expect(verifySettlementRecord({ ...settled, [member]: value }).code).toBe(
      "settlement.signature_invalid",
    );
  });

  test.each([
    ["settlement_id", ""],
    ["receipt_hash", "00"],
    ["ledger_hash", undefined],
    ["amount_settled", -1],
    ["amount_settled", 0.0000001],
    ["amount_settled", Infinity],
    ["fee", "0.1"],
    ["net", null],
    ["status", "settled"],
    ["settled_at", 1.5],
    ["issuer", alice.publicKey],
    ["issuer", undefined],
    ["suite", undefined],
    ["signature", undefined],
  ])("a settlement record is malformed with %s as %j", (member, value) => {
    expect(verifySettlementRecord({ ...settled, [member]: value }).code).toBe(
      "settlement.malformed",
    );
  });

  test.each([undefined, null, 1, "", [], [settled]])(
    "the value %j is malformed as a settlement record",
    (value) => {
      expect(verifySettlementRecord(value).code).toBe("settlement.malformed");
    },
  );
});
