import { hexToDidKey, signJson, SUITE } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import { alice, bob, taskId } from "../../test/fixtures.ts";
import { type NoShowRecordBody, signNoShowRecord, verifyNoShowRecord } from "../index.ts";

const body: NoShowRecordBody = {
  task_id: taskId,
  agent_id: "019b7d21-53eb-7ccd-926c-3badff397897",
  claimed_at: 1_767_330_839_900,
  lapsed_at: 1_767_330_899_900,
  wall_clock_ms: null,
  priced: true,
  issuer: hexToDidKey(alice.publicKey),
};
const record = signNoShowRecord(body, alice.secretKey);

describe("B2: no-show records", () => {
  test("B2: a no-show record is signed like a settlement record and names its signer", () => {
    expect(record).toMatchObject({ ...body, type: "no_show", suite: SUITE });
    expect(verifyNoShowRecord(record)).toEqual({
      valid: true,
      checks: ["structure", "suite", "issuer", "signature"].map((name) => ({ name, ok: true })),
      nested: [],
    });
  });

  test("B2: a no-show record may be required of one relay", () => {
    expect(verifyNoShowRecord(record, { publicKey: alice.publicKey }).valid).toBe(true);
    expect(verifyNoShowRecord(record, { publicKey: bob.publicKey }).code).toBe(
      "no_show.wrong_issuer",
    );
  });

  test("B2: a no-show record may be under any key of its relay's chain", () => {
    for (const relayKeys of [
      [alice.publicKey, bob.publicKey],
      [bob.publicKey, alice.publicKey],
    ]) {
      expect(verifyNoShowRecord(record, { relayKeys }).valid).toBe(true);
    }
    expect(verifyNoShowRecord(record, { relayKeys: [bob.publicKey] }).code).toBe(
      "no_show.wrong_issuer",
    );
  });

  test("B2: a no-show record may lapse in the millisecond of its claim and not before it", () => {
    const { claimed_at } = body;
    const codeAt = (lapsed_at: number) =>
      verifyNoShowRecord(signNoShowRecord({ ...body, lapsed_at }, alice.secretKey)).code;
    expect([codeAt(claimed_at), codeAt(claimed_at - 1)]).toEqual([undefined, "no_show.malformed"]);
  });

  test("B2: a no-show record is refused if another key than its issuer's signed", () => {
    expect(verifyNoShowRecord(signNoShowRecord(body, bob.secretKey)).code).toBe(
      "no_show.signature_invalid",
    );
  });

  test("B2: a no-show record is refused with another suite", () => {
    expect(verifyNoShowRecord({ ...record, suite: "other" }).code).toBe("no_show.suite");
  });

  test.each([
    ["task_id", "another"],
    ["agent_id", "another"],
    ["claimed_at", 0],
    ["lapsed_at", 1_767_330_899_901],
    ["wall_clock_ms", 1_000],
    ["priced", false],
  ])("B2: a no-show record is refused with %s changed to %j after signing", (member, value) => {
    expect(verifyNoShowRecord({ ...record, [member]: value }).code).toBe(
      "no_show.signature_invalid",
    );
  });

  test.each([
    ["type", "other"],
    ["type", undefined],
    ["claimed_at", 1.5],
    ["lapsed_at", 0],
    ["wall_clock_ms", 0],
    ["wall_clock_ms", undefined],
    ["priced", 1],
    ["issuer", alice.publicKey],
    ["signature", undefined],
  ])("B2: a no-show record is malformed with %s as %j", (member, value) => {
    expect(verifyNoShowRecord({ ...record, [member]: value }).code).toBe("no_show.malformed");
  });

  test.each([undefined, null, 1, "", [], [record]])(
    "B2: the value %j is malformed as a no-show record",
    (value) => {
      expect(verifyNoShowRecord(value).code).toBe("no_show.malformed");
    },
  );

  test("B2: a no-show record cannot be replaced by another signed object with its members", () => {
    const other = signJson({ ...body, type: "claim", suite: SUITE }, alice.secretKey);
    expect(verifyNoShowRecord(other).valid).toBe(false);
  });
});
