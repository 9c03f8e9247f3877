import { isIP } from "node:net";
import { parseCidr } from "./http/egress/ip-address.ts";

/** How one kind of value is read. `rule` completes "NAME must be ..." and never quotes the value. */
export interface ValueKind<T> {
  readonly rule: string;
  /** Undefined when the text breaks the rule. */
  readonly parse: (text: string) => T | undefined;
}

const visibleAscii = /^[\x21-\x7e]+$/;
const noControls = /^\P{Cc}+$/u;
const wholeNumber = /^\d+$/;
const plainDecimal = /^\d+(\.\d+)?$/;
const hostLabel = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const walletAddress = /^0x[0-9a-fA-F]{40}$/;

const textMatching = (rule: string, pattern: RegExp): ValueKind<string> => ({
  rule,
  parse: (text) => (pattern.test(text) ? text : undefined),
});

export const bearerToken = textMatching("visible ASCII characters without spaces", visibleAscii);

/** The comma separates tokens, so that no token can hold one. */
export const operatorTokens: ValueKind<readonly string[]> = {
  rule: "one token, or two different ones separated by a comma, of visible ASCII characters without spaces and commas",
  parse: (text) => {
    const tokens = parseList(text, bearerToken.parse);
    const isValid =
      tokens !== undefined && tokens.length <= 2 && new Set(tokens).size === tokens.length;
    return isValid ? tokens : undefined;
  },
};
export const plainText = textMatching("text without control characters", noControls);
export const evmNetwork = textMatching("eip155: and a chain id", /^eip155:\d{1,20}$/);
export const wallet = textMatching("0x and 40 hexadecimal digits", walletAddress);

/** Kept exactly as given: a blank at either end is part of a passphrase. */
export const passphrase: ValueKind<string> = { rule: "any text", parse: (text) => text };

/** For a variable that is known, so that setting it is refused instead of being overlooked. */
export const unsupported: ValueKind<never> = {
  rule: "left unset, because this build stores in SQLite only",
  parse: () => undefined,
};

export function oneOf<const T extends string>(...words: readonly T[]): ValueKind<T> {
  return {
    rule: `one of ${words.join(", ")}`,
    parse: (text) => words.find((word) => word === text),
  };
}

export const booleanFlag: ValueKind<boolean> = {
  rule: "true or false",
  parse: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

export function integerBetween(min: number, max: number): ValueKind<number> {
  return {
    rule: `a whole number from ${min} to ${max}`,
    parse: (text) => (wholeNumber.test(text) ? inRange(Number(text), min, max) : undefined),
  };
}

/** Up to six decimals, because money and rates are integers of 1e-6 inside. */
export function decimalBetween(min: number, max: number): ValueKind<number> {
  return {
    rule: `a decimal number from ${min} to ${max} with at most 6 decimals`,
    parse: (text) => {
      const decimals = text.split(".")[1]?.length ?? 0;
      return plainDecimal.test(text) && decimals <= 6 ? inRange(Number(text), min, max) : undefined;
    },
  };
}

export const listenAddress: ValueKind<string> = {
  rule: "an IP address or a host name",
  parse: (text) => (isIP(text) !== 0 || isHostName(text) ? text : undefined),
};

/** Without the slash at its end, so that a path can be appended. */
export const baseUrl: ValueKind<string> = {
  rule: "an http or https address without user, query or fragment",
  parse: (text) => {
    const url = parseWebUrl(text);
    if (url === undefined || url.search !== "" || url.hash !== "") return undefined;
    return url.href.replace(/\/+$/, "");
  },
};

export const corsOrigins: ValueKind<"*" | readonly string[]> = {
  rule: "* or origins such as https://app.example, separated by commas",
  parse: (text) => (text === "*" ? text : parseList(text, parseOrigin)),
};

export const relayIds: ValueKind<readonly string[]> = {
  rule: "relay ids (UUIDs), separated by commas",
  parse: (text) => parseList(text.toLowerCase(), (entry) => (uuid.test(entry) ? entry : undefined)),
};

export const cidrs: ValueKind<readonly string[]> = {
  rule: "IP addresses or CIDR ranges, separated by commas",
  parse: (text) => parseList(text, (entry) => (parseCidr(entry) === undefined ? undefined : entry)),
};

function inRange(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined;
}

function parseList<T>(
  text: string,
  read: (entry: string) => T | undefined,
): readonly T[] | undefined {
  const entries = text.split(",").map((entry) => read(entry.trim()));
  return entries.every((entry) => entry !== undefined) ? entries : undefined;
}

/** A last label of digits would be a mistyped IPv4 address. */
function isHostName(text: string): boolean {
  const labels = text.split(".");
  return labels.every((label) => hostLabel.test(label)) && !wholeNumber.test(labels.at(-1) ?? "");
}

function parseOrigin(text: string): string | undefined {
  const url = parseWebUrl(text);
  return url !== undefined && url.href === `${url.origin}/` ? url.origin : undefined;
}

function parseWebUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  return url !== null && isWeb && url.username === "" && url.password === "" ? url : undefined;
}
