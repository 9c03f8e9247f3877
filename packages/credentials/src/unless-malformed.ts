import { CanonicalJsonError, EncodingError } from "@agent/crypto";

/** What `read` gives, or null where it met a text or a value of the wrong form. */
export function unlessMalformed<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof EncodingError || error instanceof CanonicalJsonError) return null;
    throw error;
  }
}
