import { CanonicalJsonError, EncodingError } from "@agent/crypto";

/** What `read` gives, or null where it met a text or a value of the wrong form. */
export function unlessMalformed<Result>(decode: () => Result): Result | null {
  try {
    return decode();
  } catch (error) {
    if (error instanceof EncodingError || error instanceof CanonicalJsonError) return null;
    throw error;
  }
}
