import { isIP } from "node:net";
import * as v from "valibot";
import { parseCidr } from "./http/egress/ip-address.ts";

/** Reads the text of a variable. Its description completes "NAME must be ..." and quotes no value. */
export type VariableSchema = v.GenericSchema<string | undefined, unknown>;

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const WHOLE_NUMBER = /^\d+$/;
/** Up to six decimals, because money and rates are integers of 1e-6 inside. */
const DECIMAL_NUMBER = /^\d+(\.\d{1,6})?$/;
const HOST_LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const WALLET_ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Returns the rule of a variable, as the help text and every fault show it. */
export function getRule(schema: VariableSchema): string {
  const wrapped = v.isOfType("optional", schema) ? (schema as Optional).wrapped : schema;
  return v.getDescription(wrapped) ?? "";
}

type Optional = v.OptionalSchema<VariableSchema, string | undefined>;

const textMatching = (rule: string, pattern: RegExp) =>
  v.pipe(v.string(), v.regex(pattern), v.description(rule));

const listOf = <T>(entry: v.GenericSchema<string, T>) =>
  v.pipe(
    v.string(),
    v.transform((text) => text.split(",").map((part) => part.trim())),
    v.array(entry),
  );

export const bearerToken = textMatching("visible ASCII characters without spaces", VISIBLE_ASCII);

/** The comma separates tokens, so that no token can hold one. */
export const operatorTokens = v.pipe(
  listOf(v.pipe(v.string(), v.regex(VISIBLE_ASCII))),
  v.maxLength(2),
  v.check((tokens) => new Set(tokens).size === tokens.length),
  v.description(
    "one token, or two different ones separated by a comma, of visible ASCII characters without spaces and commas",
  ),
);

export const plainText = textMatching("text without control characters", /^\P{Cc}+$/u);
export const evmNetwork = textMatching("eip155: and a chain id", /^eip155:\d{1,20}$/);
export const walletAddress = textMatching("0x and 40 hexadecimal digits", WALLET_ADDRESS);

/** Blanks at either end are a part of a passphrase. */
export const passphraseText = v.pipe(v.string(), v.description("any text"));

/** A known variable that is refused instead of being overlooked. */
export const unsupportedSetting = v.pipe(
  v.string(),
  v.check(() => false),
  v.description("left unset, because this build stores in SQLite only"),
);

export const oneOf = <const T extends string>(...words: readonly T[]) =>
  v.pipe(v.picklist(words), v.description(`one of ${words.join(", ")}`));

export const booleanFlag = v.pipe(
  v.picklist(["true", "false"]),
  v.transform((text) => text === "true"),
  v.description("true or false"),
);

export const integerBetween = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(WHOLE_NUMBER),
    v.transform(Number),
    v.minValue(min),
    v.maxValue(max),
    v.description(`a whole number from ${min} to ${max}`),
  );

export const decimalBetween = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(DECIMAL_NUMBER),
    v.transform(Number),
    v.minValue(min),
    v.maxValue(max),
    v.description(`a decimal number from ${min} to ${max} with at most 6 decimals`),
  );

export const listenAddress = v.pipe(
  v.string(),
  v.check((text) => isIP(text) !== 0 || isHostName(text)),
  v.description("an IP address or a host name"),
);

/** Without the slash at its end, so that a path can be appended. */
export const baseUrl = v.pipe(
  v.string(),
  v.check((text) => isWebUrl(text) && new URL(text).search === "" && new URL(text).hash === ""),
  v.transform((text) => new URL(text).href.replace(/\/+$/, "")),
  v.description("an http or https address without user, query or fragment"),
);

const origin = v.pipe(
  v.string(),
  v.check((text) => isWebUrl(text) && new URL(text).href === `${new URL(text).origin}/`),
  v.transform((text) => new URL(text).origin),
);

export const corsOrigins = v.pipe(
  v.union([v.literal("*"), listOf(origin)]),
  v.description("* or origins such as https://app.example, separated by commas"),
);

export const relayIds = v.pipe(
  v.string(),
  v.toLowerCase(),
  listOf(v.pipe(v.string(), v.regex(UUID))),
  v.description("relay ids (UUIDs), separated by commas"),
);

export const cidrList = v.pipe(
  listOf(
    v.pipe(
      v.string(),
      v.check((entry) => parseCidr(entry) !== undefined),
    ),
  ),
  v.description("IP addresses or CIDR ranges, separated by commas"),
);

/** A last label of digits would be a mistyped IPv4 address. */
function isHostName(text: string): boolean {
  const labels = text.split(".");
  return labels.every((label) => HOST_LABEL.test(label)) && !WHOLE_NUMBER.test(labels.at(-1) ?? "");
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  return url !== null && isWeb && url.username === "" && url.password === "";
}
