import { HEX_OF_32_BYTES } from "@agent/crypto";
import * as v from "valibot";

export const string = v.string("must be a string");
export const text = v.pipe(string, v.nonEmpty("must not be empty"));
export const boolean = v.boolean("must be true or false");

export const hex32 = v.pipe(string, v.regex(HEX_OF_32_BYTES, "must be 64 lower-case hex digits"));

/** Milliseconds since the epoch. JSON's 1e999 parses to Infinity, which is not a whole number. */
export const time = v.pipe(
  v.number("must be a number"),
  v.integer("must be a whole number"),
  v.safeInteger("must be at most 2^53 - 1"),
);
export const count = v.pipe(time, v.minValue(0, "must not be negative"));

export const duration = v.pipe(
  v.number("must be a number"),
  v.finite("must be finite"),
  v.minValue(0, "must not be negative"),
);

export const texts = v.array(string, "must be an array");

export function oneOf<const Words extends readonly string[]>(words: Words) {
  return v.picklist(words, `must be one of: ${words.join(", ")}`);
}

/** Returns the schema of an object with these members and any others, which are signed as well. */
export function looseMembers<const Rules extends v.ObjectEntries>(rules: Rules) {
  return v.looseObject(rules, ({ expected }) =>
    expected === "Object" ? "must be a JSON object" : "is missing",
  );
}
