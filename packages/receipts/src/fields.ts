import { isPlainObject, HEX_OF_32_BYTES } from "@agent/crypto";
import * as v from "valibot";

export const text = v.pipe(v.string("must be a string"), v.nonEmpty("must not be empty"));
export const hex32 = v.pipe(
  v.string("must be a string"),
  v.regex(HEX_OF_32_BYTES, "must be 64 lower-case hex digits"),
);
export const wholeNumber = v.pipe(
  v.number("must be a number"),
  // Also refuses the Infinity that JSON's 1e999 parses to.
  v.integer("must be a whole number"),
  v.safeInteger("must be at most 2^53 - 1"),
);
export const plainObject = v.custom<object>(isPlainObject, "must be a JSON object");

/** US dollars in whole millionths, at least 0. */
export const money = v.pipe(
  v.number("must be a number"),
  v.minValue(0, "must not be negative"),
  v.check(isWholeMicro, "must have at most 6 decimals"),
);

function isWholeMicro(amount: number): boolean {
  const micro = Math.round(amount * 1e6);
  return Number.isSafeInteger(micro) && micro / 1e6 === amount;
}
