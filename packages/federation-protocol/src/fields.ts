import { parseAmount } from "@agent/budget";
import { isUuid } from "@agent/crypto";
import * as v from "valibot";

/** Micro-units of more than that are no safe integers. */
const MAX_BALANCE = 9_000_000_000;

/** Two texts that differ in half a surrogate pair would be one in a database. */
const wellFormed = v.check((text: string) => text.isWellFormed(), "has to be well-formed Unicode");

function boundedText(min: number, max: number) {
  return v.pipe(
    v.string(),
    v.minLength(min, `has to be at least ${min} characters`),
    v.maxLength(max, `has to be at most ${max} characters`),
    wellFormed,
  );
}

/** A relay's or an agent's id. Its fixed form keeps signed texts such as `id || time` unambiguous. */
export const uuid = v.pipe(
  v.string(),
  v.check(isUuid, "has to be a UUID (version 4, 7 or 8) in lower case"),
);
/** A task's or a settlement's id. */
export const textId = boundedText(1, 256);
export const shortText = boundedText(0, 256);
export const longText = boundedText(0, 4_096);
export const hex32 = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{64}$/, "has to be 64 lower-case hex digits"),
);
/** 64 bytes in base64url, in the one spelling whose unused bits are zero. */
export const signature = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{85}[AQgw]$/, "has to be an Ed25519 signature in base64url"),
);
export const endpointUrl = v.pipe(
  v.string(),
  v.maxLength(2_048, "has to be at most 2048 characters"),
  v.regex(
    /^https?:\/\/[^\s/?#@]+([/?#]\S*)?$/,
    "has to be an http or https URL without credentials",
  ),
);
/** Milliseconds since the Unix epoch. */
export const time = v.pipe(
  v.number(),
  v.safeInteger("has to be a whole number of milliseconds"),
  v.minValue(0, "has to be 0 or more"),
);
export const count = v.pipe(
  v.number(),
  v.safeInteger("has to be a whole number"),
  v.minValue(0, "has to be 0 or more"),
);
const finite = v.pipe(v.number(), v.finite("has to be a finite number"));
export const share = v.pipe(
  finite,
  v.minValue(0, "has to be within 0 and 1"),
  v.maxValue(1, "has to be within 0 and 1"),
);
/** A cost or a latency: anything above is no figure to route by. */
export const summand = v.pipe(
  finite,
  v.minValue(0, "has to be 0 or more"),
  v.maxValue(1e9, "has to be at most 1000000000"),
);
export const money = v.pipe(
  v.number(),
  v.check(
    (value) => parseAmount(value, { allowZero: true }).ok,
    "has to be an amount from 0 to 1000000000 with at most 6 decimals",
  ),
);
/** Words of `FEDERATION_FEATURES`; unknown ones are those of a newer version. */
export const features = v.pipe(
  v.array(shortText),
  v.maxLength(100, "must hold at most 100 entries"),
);
/** An amount that may be below 0. */
export const balance = v.pipe(
  v.number(),
  v.check(
    (value) => Math.abs(value) <= MAX_BALANCE && Number(value.toFixed(6)) === value,
    `must be an amount from -${MAX_BALANCE} to ${MAX_BALANCE} with at most 6 decimals`,
  ),
);
export const capabilities = v.pipe(
  v.array(boundedText(1, 256)),
  v.maxLength(100, "has to hold at most 100 entries"),
);
/** A signed object of another kind: kept as it came, judged by its own verifier. */
export const signedObject = v.custom<Record<string, unknown>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "has to be an object",
);

/** What our bodies carry beside their own members, so that no copy serves elsewhere or later. */
export const envelope = { timestamp: v.optional(time), to: v.optional(uuid) };
