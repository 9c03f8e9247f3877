import { signReceipt } from "@agent/receipts";
import { expect, test } from "vitest";
import * as made from "../test/artifacts.ts";
import { detectKind } from "./detect-kind.ts";
import { verifyArtifact } from "./verify-artifact.ts";

const noShowMarks = { claimed_at: 1, lapsed_at: 1 };
const settlementMarks = { settlement_id: "1", allocation_id: "1" };

test.each<[string, object]>([
  ["bundle", made.bundle],
  ["presentation", made.presentation],
  ["credential", made.credential],
  ["ledger", made.ledger],
  ["succession", made.succession[0]!],
  ["attestation", made.attestation],
  ["delegation_token", made.token],
  ["receipt", made.receipt],
  ["no_show", made.noShow],
  ["settlement", made.settlement],
])("a %s keeps its kind although it has the members of another kind", (kind, value) => {
  const marks = kind === "no_show" ? settlementMarks : noShowMarks;
  expect(detectKind({ ...value, ...marks })).toBe(kind);
});

test("a receipt to which its signer added the members of other kinds is valid", () => {
  const { suite: _suite, signature: _signature, ...body } = made.receipt;
  const marked = signReceipt({ ...body, ...noShowMarks, ...settlementMarks }, made.alice.secretKey);
  expect(verifyArtifact(marked)).toMatchObject({ kind: "receipt", valid: true });
});

test.each([
  ["all members of two kinds", { ...made.noShow, ...made.receipt }],
  ["the marks of two kinds and all members of neither", { ...noShowMarks, ...settlementMarks }],
])("a value with %s is of no kind", (_, value) => {
  expect(detectKind(value)).toBeNull();
});
