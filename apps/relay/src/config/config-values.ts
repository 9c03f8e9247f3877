import { isIP } from "node:net";
import { parseCidr } from "@agent/ip-networks";
import { KEY_TYPES, parseVerifierKey, type VerifierKey } from "@agent/transparency";
import * as v from "valibot";

/** Reads the text of a variable. Its description completes "NAME must be ..." and quotes no value. */
export type VariableSchema = v.GenericSchema<string | undefined, unknown>;

/** A variable of the environment, with the texts that describe it. */
export interface Variable {
  readonly purpose: string;
  /** Its default is read like a given text; without `v.optional` the variable is required. */
  readonly schema: VariableSchema;
  /** The meaning of an unset variable, if there is no default. */
  readonly unset?: string;
  readonly secret?: true;
}

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
/** The files beside it are named after it, so it must not end like a folder. */
export const filePath = textMatching(
  "the path of a file, without control characters",
  /^(?!.*\/$)\P{Cc}+$/u,
);
export const evmNetwork = textMatching("eip155: and a chain id", /^eip155:\d{1,20}$/);
export const walletAddress = textMatching("0x and 40 hexadecimal digits", WALLET_ADDRESS);

/** Blanks at either end are a part of a passphrase. */
export const passphraseText = v.pipe(v.string(), v.description("any text"));

function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text);
  const isPostgres = url?.protocol === "postgres:" || url?.protocol === "postgresql:";
  return url !== null && isPostgres && url.host !== "" && url.pathname.length > 1;
}

const POSTGRES_EXAMPLE = "an address such as postgres://user:password@host/database";

export const postgresUrl = v.pipe(
  v.string(),
  v.check(isPostgresUrl),
  v.description(POSTGRES_EXAMPLE),
);

export const postgresUrlOrOff = v.pipe(
  v.string(),
  v.check((text) => text === "off" || isPostgresUrl(text)),
  v.description(`off or ${POSTGRES_EXAMPLE}`),
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

/** A witness and the address below which it answers. */
export interface WitnessAddress {
  readonly key: VerifierKey;
  /** Without a slash at its end. */
  readonly prefix: string;
}

/** Parses a verifier key of one type; undefined for any other text. */
function parseKeyOfType(text: string, type: VerifierKey["type"]): VerifierKey | undefined {
  const parsed = parseVerifierKey(text, type);
  return parsed.ok ? parsed.key : undefined;
}

export const logKeys = v.pipe(
  listOf(
    v.pipe(
      v.string(),
      v.transform((text) => parseKeyOfType(text, KEY_TYPES.log)),
      v.custom<VerifierKey>((key) => key !== undefined),
    ),
  ),
  v.check((keys) => new Set(keys.map(({ name }) => name)).size === keys.length),
  v.description("verifier keys of logs of different names, separated by commas"),
);

export const witnessAddresses = v.pipe(
  listOf(
    v.pipe(
      v.string(),
      v.transform(parseWitnessAddress),
      v.custom<WitnessAddress>((address) => address !== undefined),
    ),
  ),
  v.description(
    "pairs of a witness's verifier key and its address, with a blank between and separated by commas",
  ),
);

function parseWitnessAddress(text: string): WitnessAddress | undefined {
  const [vkey = "", url = "", ...more] = text.split(/ +/);
  const key = parseKeyOfType(vkey, KEY_TYPES.witness);
  const prefix = v.safeParse(baseUrl, url);
  return key !== undefined && prefix.success && more.length === 0
    ? { key, prefix: prefix.output }
    : undefined;
}

const origin = v.pipe(
  v.string(),
  v.check((text) => isWebUrl(text) && new URL(text).href === `${new URL(text).origin}/`),
  v.transform((text) => new URL(text).origin),
);

export const corsOrigins = v.pipe(
  v.union([v.literal("*"), listOf(origin)]),
  v.description("* or origins such as https://app.example, separated by commas"),
);

/** A blank or a plus would make the lines of a checkpoint ambiguous. */
export const logOrigin = textMatching(
  "a name of at most 200 characters without blanks and plus signs",
  /^[^\s\u0085\p{Cc}+]{1,200}$/u,
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
