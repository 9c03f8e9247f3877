import { bytesToHex, getPublicKey, sha256Hex } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import { eraseNestedTexts, eraseTexts, listNestedSignatures } from "./erase-texts.ts";
import { parseReceipt } from "./parse.ts";
import { signReceipt } from "./checks/sign.ts";
import type { ExecutionReceipt } from "./schema.ts";
import { verifyReceipt } from "./checks/verify.ts";

const secretKey = new Uint8Array(32).fill(7);
const publicKey = bytesToHex(getPublicKey(secretKey));

function receipt(result: string, nested?: readonly object[]): ExecutionReceipt {
  return signReceipt(
    {
      task_id: `task of ${result.length}`,
      agent_id: "019b7d21-53eb-7ccd-926c-000000000001",
      device_id: "device",
      submitted_at: 1_000,
      completed_at: 2_000,
      status: "completed",
      result,
      tools_used: ["sum"],
      memories_formed: 0,
      prompt_hash: sha256Hex("prompt"),
      result_hash: sha256Hex(result),
      ...(nested !== undefined && { delegation_receipts: nested as ExecutionReceipt[] }),
    },
    secretKey,
  );
}

const deepest = receipt("the deepest secret");
const middle = receipt("a middle secret", [deepest]);
const other = receipt("another one's words");
const outer = receipt("the outermost secret", [middle, other]);

describe("B13: the texts of a receipt", () => {
  test("the texts of a receipt are replaced by the signed hashes at every depth", () => {
    const erased = eraseTexts(outer);
    expect(erased).toMatchObject({
      result: sha256Hex("the outermost secret"),
      result_hash: outer.result_hash,
      signature: outer.signature,
      delegation_receipts: [
        { result: middle.result_hash, delegation_receipts: [{ result: deepest.result_hash }] },
        { result: other.result_hash },
      ],
    });
    expect(JSON.stringify(erased)).not.toMatch(/secret|words/);
    expect(parseReceipt(erased).ok).toBe(true);
    expect(verifyReceipt(outer, { publicKey }).valid).toBe(true);
    expect(verifyReceipt(erased, { publicKey })).toMatchObject({
      code: "receipt.signature_invalid",
    });
  });

  test("the texts of a receipt do not change when they are erased again", () => {
    expect(eraseTexts(eraseTexts(outer))).toEqual(eraseTexts(outer));
  });

  test("the texts of a receipt are removed from unnamed members and from nested objects that are not receipts", () => {
    const signed = { ...receipt("x", [{ signature: "s", result: "secret" }]), note: "secret" };
    expect(JSON.stringify(eraseTexts(signed))).not.toContain("secret");
    expect(eraseTexts(signed).delegation_receipts).toEqual([]);
  });

  test("the texts of a receipt are all that is erased of its named members", () => {
    const { result: _, ...named } = signReceipt(
      { ...deepest, public_key: publicKey, relay_task_id: "task", delegated_scope: "sum" },
      secretKey,
    );
    const { result: __, ...kept } = eraseTexts({ ...named, result: "a secret" });
    expect(kept).toEqual(named);
    expect(Object.keys(eraseTexts(deepest)).toSorted()).toEqual(Object.keys(deepest).toSorted());
  });

  test("the texts of a receipt are erased only in nested receipts of the given signature", () => {
    const erased = eraseNestedTexts(outer, middle.signature);
    expect(erased).toEqual({ ...outer, delegation_receipts: [eraseTexts(middle), other] });
    expect(eraseNestedTexts(outer, deepest.signature)).toEqual({
      ...outer,
      delegation_receipts: [{ ...middle, delegation_receipts: [eraseTexts(deepest)] }, other],
    });
    expect(eraseNestedTexts(outer, "unknown")).toEqual(outer);
    const malformed = receipt("x", [{ signature: deepest.signature, result: "no receipt" }]);
    expect(eraseNestedTexts(malformed, deepest.signature)).toEqual(malformed);
  });

  test("the texts of a receipt are listed by the signatures of all nested receipts", () => {
    const signatures = [middle, deepest, other].map(({ signature }) => signature);
    expect(listNestedSignatures(outer).toSorted()).toEqual(signatures.toSorted());
    expect(listNestedSignatures(deepest)).toEqual([]);
    expect(listNestedSignatures(receipt("x", [{ signature: 1 }]))).toEqual([]);
  });
});
