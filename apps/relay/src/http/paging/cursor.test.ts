import { describe, expect, test } from "vitest";
import { decodeCursor, encodeCursor } from "./cursor.ts";

const rows = [{ id: "a" }, { id: "b" }];
const keyOf = (row: { id: string }) => row.id;

describe("a cursor", () => {
  test("a cursor leads from the last row of a full page to the next page", () => {
    const cursor = encodeCursor(rows, 2, keyOf);
    expect(cursor).not.toBeNull();
    expect(decodeCursor(cursor ?? "")).toEqual({ ok: true, value: "b" });
  });

  test("the cursor of the last page is null", () => {
    expect(encodeCursor(rows, 3, keyOf)).toBeNull();
    expect(encodeCursor([], 2, keyOf)).toBeNull();
  });

  test("a cursor may be omitted", () => {
    expect(decodeCursor(undefined)).toEqual({ ok: true, value: undefined });
  });

  test.each([" ", "*", "AA", "gICA", Buffer.from("x".repeat(257)).toString("base64url")])(
    "a cursor that the relay never issued is refused: %j",
    (cursor) => {
      expect(decodeCursor(cursor)).toMatchObject({ ok: false, code: "request.invalid" });
    },
  );

  test("a cursor of a list with other keys is refused", () => {
    const ofIds = encodeCursor(rows, 2, keyOf) ?? "";
    expect(decodeCursor(ofIds, /^\d{1,15}$/)).toMatchObject({ ok: false, code: "request.invalid" });
    const ofNumbers = encodeCursor([{ id: "17" }], 1, keyOf) ?? "";
    expect(decodeCursor(ofNumbers, /^\d{1,15}$/)).toEqual({ ok: true, value: "17" });
  });
});
