import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { verifyReceipt, verifyReceiptAsync } from "./index.ts";

interface ReceiptVector {
  readonly id: number;
  readonly cls: string;
  readonly why: string;
  /** The raw JSON text. */
  readonly receipt: string;
  /** The agent's registered key. */
  readonly key: string;
  readonly task: string;
  readonly expect: "valid" | "invalid";
  readonly nested?: readonly ("valid" | "invalid")[];
  /** The nested receipts are inside each other and all valid. */
  readonly depth?: number;
}

const file = new URL("../../../vectors/own/receipts.jsonl", import.meta.url);
const vectors = readFileSync(file, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as ReceiptVector);

const known = ({ key, task }: ReceiptVector) => ({ publicKey: key, taskId: task });
const nestedWords = ({ nested, depth }: ReceiptVector) => nested ?? (depth ? ["valid"] : []);
const wordFor = ({ valid }: { valid: boolean }) => (valid ? "valid" : "invalid");

describe("receipts.jsonl with native cryptography", () => {
  test.each(vectors)("$id $cls: $why", async (vector) => {
    const verdict = verifyReceipt(vector.receipt, known(vector));
    expect(wordFor(verdict)).toBe(vector.expect);
    expect(verdict.nested.map(wordFor)).toEqual(nestedWords(vector));
    expect(await verifyReceiptAsync(vector.receipt, known(vector))).toEqual(verdict);
  });
});

describe("receipts.jsonl with portable cryptography", () => {
  let portable: typeof import("./index.ts");

  beforeAll(async () => {
    vi.resetModules();
    vi.doMock("@agent/crypto", async (original) => ({
      ...(await original<object>()),
      ...(await import("@agent/crypto/portable")),
    }));
    portable = await import("./index.ts");
  });
  afterAll(() => {
    vi.doUnmock("@agent/crypto");
    vi.resetModules();
  });

  test("the verifier uses the portable implementation", async () => {
    const used = await import("@agent/crypto");
    expect(used.verify).toBe((await import("@agent/crypto/portable")).verify);
  });

  test.each(vectors)("$id $cls: $why", (vector) => {
    const verdict = portable.verifyReceipt(vector.receipt, known(vector));
    expect(verdict).toEqual(verifyReceipt(vector.receipt, known(vector)));
  });
});

describe("the refused vectors have the codes of their faults", () => {
  const codes: Record<string, string> = {
    "suite-missing": "receipt.suite",
    "suite-unknown": "receipt.suite",
    "other-task": "receipt.task_mismatch",
    "field-removed": "receipt.task_mismatch",
    "field-added": "receipt.signature_invalid",
    "embedded-key-of-stranger": "receipt.signature_invalid",
    "embedded-key-not-signer": "receipt.signature_invalid",
    "signed-hash": "receipt.signature_invalid",
    "signed-noncanonical": "receipt.signature_invalid",
    "signed-with-signature-field": "receipt.signature_invalid",
    "sig-malleable": "receipt.signature_invalid",
    "sig-padded": "receipt.signature_invalid",
    "sig-hex": "receipt.signature_invalid",
    "small-order-key": "receipt.signature_invalid",
    "nested-tampered-after": "receipt.signature_invalid",
    "sig-empty": "receipt.malformed",
    "sig-missing": "receipt.malformed",
    "sig-null": "receipt.malformed",
    "sig-array": "receipt.malformed",
    "duplicate-member": "receipt.malformed",
    "lone-surrogate": "receipt.malformed",
  };

  test.each(Object.entries(codes))("%s: %s", (cls, code) => {
    const answers = vectors
      .filter((vector) => vector.cls === cls)
      .map((vector) => verifyReceipt(vector.receipt, known(vector)).code);
    expect(new Set(answers)).toEqual(new Set([code]));
  });
});
