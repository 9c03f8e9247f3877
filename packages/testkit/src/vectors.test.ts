import { verifyReceipt } from "@agent/receipts";
import { expect, test } from "vitest";
import { loadHostileVectors, loadJsonVectors, loadReceiptVectors } from "./vectors.ts";

test("the receipts are loaded with the verdict of a verifier", () => {
  const vectors = loadReceiptVectors();
  expect(vectors).toHaveLength(153);
  for (const { receipt, key, task, expect: verdict } of vectors.slice(0, 5)) {
    const { valid } = verifyReceipt(receipt, { publicKey: key, taskId: task });
    expect(valid).toBe(verdict === "valid");
  }
});

test("the JSON texts are loaded as bytes that JSON.parse accepts or refuses as stated", () => {
  const vectors = loadJsonVectors();
  expect(vectors).toHaveLength(340);
  const wrong = vectors.filter(
    ({ bytes, expect: verdict }) => verdict !== "any" && isJson(bytes) !== (verdict === "accept"),
  );
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

test("the giant texts are created in their stated sizes", () => {
  const { values, bodies, giants } = loadHostileVectors();
  expect(values).toContain("1e309");
  expect(bodies.map(({ name }) => name)).toContain("overlong-utf8");
  const sizes = [...giants()].map((text) => text.length);
  expect(sizes).toEqual([
    200_000, 300_001, 210_001, 100_000, 3_000_002, 1_200_003, 1_088_891, 100_000,
  ]);
});
