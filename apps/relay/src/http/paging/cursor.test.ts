import { describe, expect, test } from "vitest";
import { decodeCursor, encodeCursorKey } from "./cursor.ts";

describe("a cursor", () => {
  test("a cursor leads to the key from which it was made", () => {
    expect(decodeCursor(encodeCursorKey("b"))).toEqual({ ok: true, value: "b" });
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
    expect(decodeCursor(encodeCursorKey("b"), /^\d{1,15}$/)).toMatchObject({
      ok: false,
      code: "request.invalid",
    });
    expect(decodeCursor(encodeCursorKey("17"), /^\d{1,15}$/)).toEqual({ ok: true, value: "17" });
  });
});
