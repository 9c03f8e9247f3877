import { limits, type Refusal } from "@agent/wire";
import { refuseField } from "../server/validate.ts";

/** Formats the cursor of the page after a key, which is opaque to callers. */
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
