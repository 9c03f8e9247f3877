import { CanonicalJsonError } from "./json/canonical-json.ts";
import { EncodingError } from "./formats.ts";

/** Returns the result of `decode`, or undefined if it throws EncodingError or CanonicalJsonError. */
export function unlessMalformed<Result>(decode: () => Result): Result | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof EncodingError || error instanceof CanonicalJsonError) return undefined;
    throw error;
  }
}
