import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { buildChain, buildSignedReceipt } from "../test/fixtures.ts";
import { ExecutionReceiptSchema } from "./index.ts";

const fits = (value: unknown) => v.is(ExecutionReceiptSchema, value);

describe("the schema of a receipt", () => {
  test("the schema of a receipt accepts a signed receipt with members that it does not name", () => {
    const receipt = { ...buildSignedReceipt(), note: { a: [1] } };
    expect(v.parse(ExecutionReceiptSchema, receipt)).toEqual(receipt);
  });

  test("the schema of a receipt requires the only suite", () => {
    expect(fits({ ...buildSignedReceipt(), suite: undefined })).toBe(false);
    expect(fits({ ...buildSignedReceipt(), suite: "other" })).toBe(false);
  });

  test("the schema of a receipt checks nested receipts", () => {
    expect(fits(buildChain(3))).toBe(true);
    expect(
      fits({
        ...buildSignedReceipt(),
        delegation_receipts: [{ ...buildSignedReceipt(), result: 1 }],
      }),
    ).toBe(false);
  });

  test("the schema of a receipt accepts a chain of 256 and refuses a deeper one without recursion", () => {
    const deep = (hops: number): unknown =>
      JSON.parse(
        `${JSON.stringify(buildSignedReceipt()).slice(0, -1)},"delegation_receipts":[`.repeat(
          hops,
        ) +
          JSON.stringify(buildSignedReceipt()) +
          "]}".repeat(hops),
      );
    expect(fits(deep(256))).toBe(true);
    expect(fits(deep(257))).toBe(false);
    expect(fits(deep(20_000))).toBe(false);
  });
});
