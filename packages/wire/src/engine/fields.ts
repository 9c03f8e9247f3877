import { fromMicro, MAX_AMOUNT, parseAmount, type AmountCode } from "@agent/budget";
import { isJsonObject, isUuid, HEX_OF_32_BYTES } from "@agent/crypto";
import * as v from "valibot";
import { annotateSchema, describeAs } from "./annotate-schema.ts";
import { limits } from "./limits.ts";

export { extensibleEnum } from "./extensible-enum.ts";

/** Rejects lone surrogates, because a database would replace them and store two different ids as one. */
export const wellFormed = v.check(
  (text: string) => text.isWellFormed(),
  "must be well-formed Unicode",
);

const nonEmpty = v.minLength<string, 1, string>(1, "must not be empty");

/** An id that the caller chose: stored unchanged; only its length is limited. */
export const id = v.pipe(
  v.string(),
  nonEmpty,
  v.maxLength(limits.idLength, `must be at most ${limits.idLength} characters`),
  wellFormed,
);

/** An id that is read back as a part of a path: URL parsers remove `.` and `..` in any encoding. */
export const pathId = v.pipe(
  id,
  v.check(
    (text) => text !== "." && text !== "..",
    'must be neither "." nor "..", which URLs leave out',
  ),
);

export const agentId = annotateSchema(
  v.pipe(v.string(), v.check(isUuid, "must be a UUID (version 4, 7 or 8) in lower case")),
  { pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-[478][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$" },
);

export const publicKey = v.pipe(
  v.string(),
  v.regex(HEX_OF_32_BYTES, "must be 64 lower-case hex digits"),
);

export const hash = v.pipe(
  v.string(),
  v.regex(HEX_OF_32_BYTES, "must be a SHA-256 hash as 64 lower-case hex digits"),
);

export const shortText = v.pipe(
  v.string(),
  v.maxLength(limits.shortText, `must be at most ${limits.shortText} characters`),
  wellFormed,
);

export const longText = v.pipe(
  v.string(),
  v.maxLength(limits.longText, `must be at most ${limits.longText} characters`),
  wellFormed,
);

export const nonEmptyShortText = v.pipe(shortText, nonEmpty);

/**
 * The reference of a payment, which a person enters and which counts once. A copied space, or an accented
 * letter in two characters, would make it a different reference, and the payment would be credited twice.
 */
export const paymentReference = v.pipe(
  nonEmptyShortText,
  v.check((text) => text.trim() === text, "must not begin or end with white space"),
  v.check((text) => text.normalize() === text, "must be in Unicode normalization form C"),
);

export const nonEmptyLongText = v.pipe(longText, nonEmpty);

/** The address at which an agent or a relay can be reached; the case of its scheme does not count (RFC 3986). */
export const endpointUrl = v.pipe(
  v.string(),
  v.maxLength(2_048, "must be at most 2048 characters"),
  // OpenAPI shows the pattern, which has no flags there.
  v.regex(
    /^[hH][tT]{2}[pP][sS]?:\/\/[^\s/?#@]+([/?#]\S*)?$/,
    "must be an http or https URL without credentials",
  ),
);

/** Milliseconds since the Unix epoch. */
export const timestamp = v.pipe(
  v.number(),
  v.safeInteger("must be a whole number of milliseconds"),
  v.minValue(0, "must be 0 or more"),
);

/** An integer in an answer; readers only check that it is a number. */
export const wholeNumber = annotateSchema(v.number(), { type: "integer" });

/** JSON `1e999` parses to Infinity, so numbers must be checked to be finite. */
export const finite = v.pipe(v.number(), v.finite("must be a finite number"));

export const ratio = v.pipe(
  finite,
  v.minValue(0, "must be from 0 to 1"),
  v.maxValue(1, "must be from 0 to 1"),
);

export const count = v.pipe(
  v.number(),
  v.safeInteger("must be a whole number"),
  v.minValue(0, "must be 0 or more"),
);

function createAmountSchema(options: { allowZero: boolean }) {
  const amountRules: Record<AmountCode, string> = {
    "money.not_a_number": "must be a finite number",
    "money.not_positive": options.allowZero ? "must be 0 or more" : "must be above 0",
    "money.too_many_decimals": "must have at most 6 decimals",
    "money.too_large": "must be at most 1000000000",
  };
  const schema = v.pipe(
    v.number(),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const parsed = parseAmount(dataset.value, options);
      if (!parsed.ok) addIssue({ message: amountRules[parsed.code] });
    }),
  );
  // The number of decimals is left out of the JSON Schema, because validators compute `multipleOf` with
  // floats and would refuse valid amounts.
  const bounds = options.allowZero ? { minimum: 0 } : { exclusiveMinimum: 0 };
  return annotateSchema(schema, { ...bounds, maximum: fromMicro(MAX_AMOUNT) });
}

/** An amount of money in USD: above 0, at most 1e9, at most 6 decimals. */
export const amount = createAmountSchema({ allowZero: false });

/** A price or a budget: an amount, or 0 for free. */
export const price = createAmountSchema({ allowZero: true });

/** Money in an answer: a JSON number of USD with at most 6 decimals; credits are positive. */
export const money = v.number();

/** US dollars are the only currency. */
export const currency = v.literal("USD");

/** Makes a schema reject arrays, which valibot accepts as objects if no member is required. */
export function objectOnly<S extends v.GenericSchema>(schema: S) {
  return v.pipe(
    v.custom<v.InferInput<S>>(isJsonObject, "must be an object"),
    schema as v.GenericSchema<v.InferInput<S>, v.InferOutput<S>>,
  );
}

/**
 * A JSON object that is passed on uninterpreted and unchanged, including members named `__proto__`, because
 * a signed document must stay complete.
 */
export const looseObject = v.custom<Record<string, unknown>>(isJsonObject, "must be an object");

export const capability = v.pipe(
  v.string(),
  nonEmpty,
  v.maxLength(limits.shortText, `must be at most ${limits.shortText} characters`),
  wellFormed,
);

export const capabilities = v.pipe(
  v.array(capability),
  v.maxLength(limits.capabilities, `must contain at most ${limits.capabilities} entries`),
);

function integerText(min: number, max: number) {
  const rule = `must be a whole number from ${min} to ${max}`;
  return v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, rule),
    v.transform(Number),
    v.number(),
    v.safeInteger(rule),
    v.minValue(min, rule),
    v.maxValue(max, rule),
  );
}

/** A text to search for in a query string. */
export const freeText = v.pipe(
  shortText,
  v.check(
    (text) => text.trim().split(/\s+/).length <= limits.searchedWords,
    `must contain at most ${limits.searchedWords} words`,
  ),
);

/** The query parameters of every list. */
export const pageQuery = {
  limit: describeAs(
    v.optional(integerText(1, limits.maxPageSize)),
    "The maximum number of entries; 50 by default. A page of long entries may have fewer.",
  ),
  cursor: describeAs(
    v.optional(id),
    "The `next_cursor` of the previous page; absent for the first page.",
  ),
};

const TIME_RULE = "must be milliseconds since the epoch";

/** A time in a query string, in milliseconds since the Unix epoch. */
export const timeText = v.pipe(
  v.string(),
  v.regex(/^\d{1,15}$/, TIME_RULE),
  v.transform(Number),
  v.number(),
  v.safeInteger(TIME_RULE),
  v.minValue(0, TIME_RULE),
);

export const eventNumber = describeAs(
  v.optional(integerText(0, 999_999_999)),
  "The number of the last event that the caller has received.",
);

export const waitSeconds = describeAs(
  v.optional(integerText(0, limits.pollWaitSeconds)),
  "The longest time in seconds that the answer waits for a change.",
);

/** A price in a query string. */
export const priceText = v.pipe(
  v.string(),
  v.regex(/^\d{1,10}(\.\d{1,6})?$/, "must be an amount with at most 6 decimals"),
  v.transform(Number),
  price,
);

/** Creates the schema of entries that are accepted together or not at all. */
export const createBatchSchema = <Entry extends v.GenericSchema>(entry: Entry) =>
  v.pipe(
    v.array(entry),
    v.minLength(1, "must not be empty"),
    v.maxLength(limits.recordBatch, `must contain at most ${limits.recordBatch} entries`),
  );

export const nextCursor = describeAs(
  v.nullable(v.string()),
  "The `cursor` of the next page; null on the last one.",
);

/** Of answers about changes at the relay, which are numbered before they are shown. */
export const delayed = describeAs(
  v.optional(v.literal(true)),
  "Present while the database accepts no writes, as on a full disk: the newest changes are then missing.",
);
