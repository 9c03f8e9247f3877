import { describe, expect, test } from "vitest";
import { alice, bob, buildChain, buildSignedReceipt, taskId } from "../test/fixtures.ts";
import { parseReceipt, hashReceipt, verifyReceipt, verifyReceiptAsync } from "./index.ts";

const known = { publicKey: alice.publicKey, taskId };

/**
 * A receipt that counts the reads of its members: `memories_formed` is read to validate and to
 * serialize it, and `note`, which has no rule, only to serialize it.
 */
function countingReceipt() {
  const reads = { memories_formed: 0, note: 0 };
  const members = { note: "unnamed" };
  const receipt: Record<string, unknown> = { ...buildSignedReceipt(members as object) };
  for (const name of ["memories_formed", "note"] as const) {
    const value = receipt[name];
    Object.defineProperty(receipt, name, {
      enumerable: true,
      get() {
        reads[name] += 1;
        return value;
      },
    });
  }
  return { receipt, reads };
}

describe("parsed receipts", () => {
  test("parseReceipt parses a receipt once, and its result is verified without parsing the receipt again", async () => {
    const { receipt, reads } = countingReceipt();
    const parsed = parseReceipt(receipt);
    if (!parsed.ok) throw new Error(parsed.code);
    const after = { ...reads };
    expect(after.note).toBe(1);
    expect(verifyReceipt(parsed, known)).toMatchObject({ valid: true, hash: parsed.hash });
    expect(await verifyReceiptAsync(parsed, known)).toMatchObject({ valid: true });
    expect(reads).toEqual(after);
  });

  test("verifyReceipt parses a receipt once, and its verdict contains the receipt and its hash", async () => {
    const parsing = countingReceipt();
    parseReceipt(parsing.receipt);
    const { receipt, reads } = countingReceipt();
    const verdict = verifyReceipt(receipt, known);
    expect(reads).toEqual(parsing.reads);
    expect(verdict.valid && verdict.receipt).toBe(receipt);
    expect(verdict).toMatchObject({
      hash: hashReceipt(buildSignedReceipt({ note: "unnamed" } as object)),
    });
  });
});

test("the verdict on a parsed receipt is the verdict on the receipt", async () => {
  const good = buildChain(2);
  for (const receipt of [good, { ...good, result: "changed" }, { ...good, suite: "other" }]) {
    const parsed = parseReceipt(receipt);
    if (!parsed.ok) throw new Error(parsed.code);
    for (const publicKey of [alice.publicKey, bob.publicKey, undefined]) {
      const verdict = verifyReceipt(receipt, { publicKey, taskId });
      expect(verifyReceipt(parsed, { publicKey, taskId })).toEqual(verdict);
      expect(await verifyReceiptAsync(parsed, { publicKey, taskId })).toEqual(verdict);
    }
  }
});

test("the verdict on a nested receipt contains it with its hash only if it is valid", () => {
  const right = buildSignedReceipt({ result: "right" });
  const changed = { ...buildSignedReceipt(), result: "changed" };
  const outer = buildSignedReceipt({ delegation_receipts: [right, changed] });
  const { nested } = verifyReceipt(outer, known);
  expect(nested).toMatchObject([
    { valid: true, receipt: right, hash: hashReceipt(right) },
    { valid: false, code: "receipt.signature_invalid" },
  ]);
  expect(nested[1]).not.toHaveProperty("receipt");
  expect(nested[1]).not.toHaveProperty("hash");
});

test("data that looks like a result of parseReceipt is refused", () => {
  const parsed = parseReceipt(buildSignedReceipt());
  expect(parsed.ok).toBe(true);
  const forged = Object.assign({}, parsed, {
    receipt: { ...buildSignedReceipt(), result: "forged" },
  });
  for (const value of [forged, JSON.stringify(parsed)]) {
    expect(verifyReceipt(value, known)).toMatchObject({ valid: false, code: "receipt.malformed" });
  }
});

test("a result of parseReceipt nested in a receipt does not count as verified", () => {
  const parsed = parseReceipt(buildSignedReceipt());
  const outer = { ...buildSignedReceipt(), delegation_receipts: [parsed] };
  expect(verifyReceipt(outer, known)).toMatchObject({ valid: false, code: "receipt.malformed" });
});
