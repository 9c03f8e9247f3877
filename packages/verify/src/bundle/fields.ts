import { HEX_OF_32_BYTES } from "@agent/crypto";
import * as v from "valibot";

export const text = v.pipe(v.string("must be a string"), v.nonEmpty("must not be empty"));

/** A hash or a public key. */
export const hex32 = v.pipe(
  v.string("must be a string"),
  v.regex(HEX_OF_32_BYTES, "must be 64 lower-case hex digits"),
);

/** Milliseconds since the epoch. */
export const time = v.pipe(v.number("must be a number"), v.safeInteger("must be a whole number"));

/** US dollars; JSON's 1e999 parses to Infinity, so finiteness must be checked. */
export const amount = v.pipe(v.number("must be a number"), v.finite("must be finite"));
