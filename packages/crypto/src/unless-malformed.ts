import { CanonicalJsonError } from "./json/canonical-json.ts";
import { EncodingError } from "./formats.ts";

/** What `read` gives, or undefined where it met a text or a value of the wrong form. */
export function unlessMalformed<Result>(decode: () => Result): Result | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof EncodingError || error instanceof CanonicalJsonError) return undefined;
    throw error;
  }
}
