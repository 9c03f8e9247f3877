import { isJsonObject, parseJsonText } from "@agent/crypto";
import * as v from "valibot";
import { hex32, wholeNumber } from "./fields.ts";

/**
 * A reference to a result that is stored elsewhere: its location, its SHA-256 in lower-case hex and
 * its length in bytes.
 */
export interface ResultReference {
  readonly uri: string;
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * The reasons for which a result is not a reference. `reference.none`: it is an ordinary result.
 * `reference.malformed`: it has the members of a reference, but one of them breaks its rule.
 */
export type ReferenceRefusal = "reference.none" | "reference.malformed";

const MAX_URI_CHARACTERS = 2_048;

/** The schemes that are safe to show as a link, unlike `javascript:`, `data:` and `file:`. */
const URI = /^(https?:\/\/[^\s/?#@\\]+([/?#][^\s\\]*)?|ipfs:\/\/[A-Za-z0-9]+(\/[^\s\\]*)?)$/;

const referenceMembers = {
  uri: v.pipe(v.string(), v.maxLength(MAX_URI_CHARACTERS), v.regex(URI)),
  sha256: hex32,
  bytes: v.pipe(wholeNumber, v.minValue(0)),
};

const ReferenceSchema = v.strictObject(referenceMembers);

/**
 * Parses a receipt's `result` as a reference to a file: the JSON text of an object with exactly the
 * members `uri` (http, https or ipfs, without credentials, at most 2048 characters), `sha256` and
 * `bytes`. The signature of the receipt covers the text, so the hash alone proves the file.
 */
export function parseResultReference(
  result: string,
):
  | { readonly ok: true; readonly reference: ResultReference }
  | { readonly ok: false; readonly code: ReferenceRefusal } {
  const parsed = parseJsonText(result);
  if (parsed === null || !hasReferenceMembers(parsed.value))
    return { ok: false, code: "reference.none" };
  const read = v.safeParse(ReferenceSchema, parsed.value);
  return read.success
    ? { ok: true, reference: read.output }
    : { ok: false, code: "reference.malformed" };
}

/** The exact members of a reference; any other JSON is an ordinary result. */
function hasReferenceMembers(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const names = Object.keys(value);
  return (
    names.length === Object.keys(referenceMembers).length &&
    names.every((name) => Object.hasOwn(referenceMembers, name))
  );
}
