import * as v from "valibot";
import { didKeyToPublicKey, unlessMalformed } from "@agent/crypto";
import { parseDateTime } from "./date-time.ts";

export const text = v.pipe(v.string("must be a string"), v.nonEmpty("must not be empty"));
export const dateTime = v.pipe(
  text,
  v.check((value) => parseDateTime(value) !== null, "must be a date with time and time zone"),
);
export const didKey = v.pipe(
  text,
  v.check(
    (value) => unlessMalformed(() => didKeyToPublicKey(value)) !== undefined,
    "must be the did:key of an Ed25519 key",
  ),
);

// JSON's 1e999 parses to Infinity, so numbers must be checked to be finite.
export const finite = v.pipe(v.number("must be a number"), v.finite("must be finite"));
export const amount = v.pipe(finite, v.minValue(0, "must not be negative"));
export const ratio = v.pipe(amount, v.maxValue(1, "must be at most 1"));
export const count = v.pipe(amount, v.safeInteger("must be a whole number of at most 2^53 - 1"));
/** Milliseconds since the epoch. */
export const timestamp = count;
