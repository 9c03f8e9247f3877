import { limits, type Refusal } from "@agent/wire";
import { refuseField } from "../server/validate.ts";

/** Formats the cursor of the next page, which is the key of the last row and opaque to callers. */
export function encodeCursor<Row>(
  rows: readonly Row[],
  limit: number,
  key: (row: Row) => string,
): string | null {
  const last = rows.at(-1);
  if (last === undefined || rows.length < limit) return null;
  return encodeCursorKey(key(last));
}

/** The part of a list after a key. */
export function encodeCursorKey(key: string): string {
  return Buffer.from(key).toString("base64url");
}

/** Parses a cursor; `form` matches the keys of that list. */
export function decodeCursor(
  cursor: string | undefined,
  form = /^[\x21-\x7e]+$/,
): { readonly ok: true; readonly value: string | undefined } | Refusal<"request.invalid"> {
  if (cursor === undefined) return { ok: true, value: undefined };
  const value = Buffer.from(cursor, "base64url").toString();
  return form.test(value) && value.length <= limits.idLength
    ? { ok: true, value }
    : refuseField("cursor", "is not one that this relay gave");
}
