import { parseAmount, type AmountCode } from "@agent/budget";
import { isUuid } from "@agent/crypto";
import * as v from "valibot";
import { limits } from "./limits.ts";

export { extensibleEnum, getEnumWords } from "./extensible-enum.ts";

/** A database would store half a surrogate pair as another character, and two ids as one. */
export const wellFormed = v.check(
  (text: string) => text.isWellFormed(),
  "has to be well-formed Unicode",
);

/** An id that somebody else chose: kept as it is, only its length is bounded. */
export const id = v.pipe(
  v.string(),
  v.minLength(1, "has to be non-empty"),
  v.maxLength(limits.idLength, `has to be at most ${limits.idLength} characters`),
  wellFormed,
);

export const agentId = v.pipe(
  v.string(),
  v.check(isUuid, "has to be a UUID (version 4, 7 or 8) in lower case"),
);

export const publicKey = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{64}$/, "has to be 64 lower-case hex digits"),
);

export const hash = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{64}$/, "has to be a SHA-256 as 64 lower-case hex digits"),
);

export const shortText = v.pipe(
  v.string(),
  v.maxLength(limits.shortText, `has to be at most ${limits.shortText} characters`),
  wellFormed,
);

export const longText = v.pipe(
  v.string(),
  v.maxLength(limits.longText, `has to be at most ${limits.longText} characters`),
  wellFormed,
);

/** Where an agent or a relay says that it can be reached. */
export const endpointUrl = v.pipe(
  v.string(),
  v.maxLength(2_048, "has to be at most 2048 characters"),
  v.regex(
    /^https?:\/\/[^\s/?#@]+([/?#]\S*)?$/,
    "has to be an http or https URL without credentials",
  ),
);

/** Milliseconds since the Unix epoch. */
export const timestamp = v.pipe(
  v.number(),
  v.safeInteger("has to be a whole number of milliseconds"),
  v.minValue(0, "has to be 0 or more"),
);

/** JSON `1e999` parses to Infinity, so a number is not yet a finite one. */
export const finite = v.pipe(v.number(), v.finite("has to be a finite number"));

export const ratio = v.pipe(
  finite,
  v.minValue(0, "has to be within 0 and 1"),
  v.maxValue(1, "has to be within 0 and 1"),
);

export const count = v.pipe(
  v.number(),
  v.safeInteger("has to be a whole number"),
  v.minValue(0, "has to be 0 or more"),
);

function createAmountSchema(options: { allowZero: boolean }) {
  const amountRules: Record<AmountCode, string> = {
    "money.not_a_number": "has to be a finite number",
    "money.not_positive": options.allowZero ? "has to be 0 or more" : "has to be above 0",
    "money.too_many_decimals": "has to have at most 6 decimals",
    "money.too_large": "has to be at most 1000000000",
  };
  return v.pipe(
    v.number(),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const parsed = parseAmount(dataset.value, options);
      if (!parsed.ok) addIssue({ message: amountRules[parsed.code] });
    }),
  );
}

/** Money on the wire: USD above 0, at most 1e9, at most 6 decimals. */
export const amount = createAmountSchema({ allowZero: false });

/** A price or a budget: as an amount, and 0 means free. */
export const price = createAmountSchema({ allowZero: true });

/** Money in an answer: a JSON number with at most 6 decimals, credits positive. */
export const money = v.number();

/** Only US dollars are kept. */
export const currency = v.literal("USD");

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As the schema, which alone would take an array where none of its members is required. */
export function objectOnly<S extends v.GenericSchema>(schema: S) {
  return v.pipe(
    v.custom<v.InferInput<S>>(isObject, "has to be an object"),
    schema as v.GenericSchema<v.InferInput<S>, v.InferOutput<S>>,
  );
}

/**
 * A JSON object of which this contract reads nothing but hands everything on, members named
 * `__proto__` included: what is signed has to stay whole.
 */
export const looseObject = v.custom<Record<string, unknown>>(isObject, "has to be an object");

export const capability = v.pipe(
  v.string(),
  v.minLength(1, "has to be non-empty"),
  v.maxLength(limits.shortText, `has to be at most ${limits.shortText} characters`),
  wellFormed,
);

export const capabilities = v.pipe(
  v.array(capability),
  v.maxLength(limits.capabilities, `has to hold at most ${limits.capabilities} entries`),
);

function integerText(min: number, max: number) {
  const rule = `has to be a whole number from ${min} to ${max}`;
  return v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, rule),
    v.transform(Number),
    v.number(),
    v.minValue(min, rule),
    v.maxValue(max, rule),
  );
}

/** The query members of every list: `limit` 1 to 200, default 50, and an opaque `cursor`. */
export const pageQuery = {
  limit: v.optional(integerText(1, limits.maxPageSize)),
  cursor: v.optional(id),
};

/** A time in a query string: milliseconds since the Unix epoch. */
export const timeText = v.pipe(
  v.string(),
  v.regex(/^\d{1,15}$/, "has to be milliseconds since the epoch"),
  v.transform(Number),
  v.number(),
);

/** The number of an event that was seen already. */
export const eventNumber = v.optional(integerText(0, 999_999_999));

export const waitSeconds = v.optional(integerText(0, limits.pollWaitSeconds));

/** An amount in a query string. */
export const priceText = v.pipe(
  v.string(),
  v.regex(/^\d{1,10}(\.\d{1,6})?$/, "has to be an amount of at most 6 decimals"),
  v.transform(Number),
  price,
);

/** Entries that are taken together or not at all. */
export const createBatchSchema = <Entry extends v.GenericSchema>(entry: Entry) =>
  v.pipe(
    v.array(entry),
    v.minLength(1, "has to be non-empty"),
    v.maxLength(limits.recordBatch, `has to hold at most ${limits.recordBatch} entries`),
  );

/** A list answers its rows under their plural and where the next page begins. */
export const nextCursor = v.nullable(v.string());
