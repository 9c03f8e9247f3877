import { isIP } from "node:net";
import { parseCidr } from "./http/ip-address.ts";

/** How one kind of value is read. `rule` completes "NAME must be ..." and never quotes the value. */
export interface ValueKind<T> {
  readonly rule: string;
  /** Undefined when the text breaks the rule. */
  readonly read: (text: string) => T | undefined;
}

const visibleAscii = /^[\x21-\x7e]+$/;
const noControls = /^\P{Cc}+$/u;
const wholeNumber = /^\d+$/;
const plainDecimal = /^\d+(\.\d+)?$/;
const hostLabel = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const walletAddress = /^0x[0-9a-fA-F]{40}$/;

const matching = (rule: string, pattern: RegExp): ValueKind<string> => ({
  rule,
  read: (text) => (pattern.test(text) ? text : undefined),
});

export const bearerToken = matching("visible ASCII characters without spaces", visibleAscii);

/** The comma separates tokens, so that no token can hold one. */
export const operatorTokens: ValueKind<readonly string[]> = {
  rule: "one token, or two different ones separated by a comma, of visible ASCII characters without spaces and commas",
  read: (text) => {
    const tokens = list(text, bearerToken.read);
    const isValid =
      tokens !== undefined && tokens.length <= 2 && new Set(tokens).size === tokens.length;
    return isValid ? tokens : undefined;
  },
};
export const plainText = matching("text without control characters", noControls);
export const evmNetwork = matching("eip155: and a chain id", /^eip155:\d{1,20}$/);
export const wallet = matching("0x and 40 hexadecimal digits", walletAddress);

/** Kept exactly as given: a blank at either end is part of a passphrase. */
export const passphrase: ValueKind<string> = { rule: "any text", read: (text) => text };

/** For a variable that is known, so that setting it is refused instead of being overlooked. */
export const unsupported: ValueKind<never> = {
  rule: "left unset, because this build stores in SQLite only",
  read: () => undefined,
};

export function oneOf<const T extends string>(...words: readonly T[]): ValueKind<T> {
  return {
    rule: `one of ${words.join(", ")}`,
    read: (text) => words.find((word) => word === text),
  };
}

export const flag: ValueKind<boolean> = {
  rule: "true or false",
  read: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

export function whole(least: number, most: number): ValueKind<number> {
  return {
    rule: `a whole number from ${least} to ${most}`,
    read: (text) => (wholeNumber.test(text) ? within(Number(text), least, most) : undefined),
  };
}

/** Up to six decimals, because money and rates are integers of 1e-6 inside. */
export function decimal(least: number, most: number): ValueKind<number> {
  return {
    rule: `a decimal number from ${least} to ${most} with at most 6 decimals`,
    read: (text) => {
      const decimals = text.split(".")[1]?.length ?? 0;
      return plainDecimal.test(text) && decimals <= 6
        ? within(Number(text), least, most)
        : undefined;
    },
  };
}

export const listenAddress: ValueKind<string> = {
  rule: "an IP address or a host name",
  read: (text) => (isIP(text) !== 0 || isHostName(text) ? text : undefined),
};

/** Without the slash at its end, so that a path can be appended. */
export const baseUrl: ValueKind<string> = {
  rule: "an http or https address without user, query or fragment",
  read: (text) => {
    const url = webUrl(text);
    if (url === undefined || url.search !== "" || url.hash !== "") return undefined;
    return url.href.replace(/\/+$/, "");
  },
};

export const corsOrigins: ValueKind<"*" | readonly string[]> = {
  rule: "* or origins such as https://app.example, separated by commas",
  read: (text) => (text === "*" ? text : list(text, origin)),
};

export const relayIds: ValueKind<readonly string[]> = {
  rule: "relay ids (UUIDs), separated by commas",
  read: (text) => list(text.toLowerCase(), (entry) => (uuid.test(entry) ? entry : undefined)),
};

export const cidrs: ValueKind<readonly string[]> = {
  rule: "IP addresses or CIDR ranges, separated by commas",
  read: (text) => list(text, (entry) => (parseCidr(entry) === undefined ? undefined : entry)),
};

function within(value: number, least: number, most: number): number | undefined {
  return value >= least && value <= most ? value : undefined;
}

function list<T>(text: string, read: (entry: string) => T | undefined): readonly T[] | undefined {
  const entries = text.split(",").map((entry) => read(entry.trim()));
  return entries.every((entry) => entry !== undefined) ? entries : undefined;
}

/** A last label of digits would be a mistyped IPv4 address. */
function isHostName(text: string): boolean {
  const labels = text.split(".");
  return labels.every((label) => hostLabel.test(label)) && !wholeNumber.test(labels.at(-1) ?? "");
}

function origin(text: string): string | undefined {
  const url = webUrl(text);
  return url !== undefined && url.href === `${url.origin}/` ? url.origin : undefined;
}

function webUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  return url !== null && isWeb && url.username === "" && url.password === "" ? url : undefined;
}
