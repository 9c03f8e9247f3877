import { type LogOptions, NAMED_KEY_FORM, type NamedKey, parseLogOptions } from "@agent/verify";
import { parseKeys } from "./parse-keys.ts";
import { showLine } from "../../shared/format/show-text.ts";

/** The fields in which the reader names trusted keys, logs and witnesses. */
export interface TrustTexts {
  readonly keys: string;
  readonly log: string;
  /** Separated by blanks. */
  readonly witnesses: string;
  readonly quorum: string;
}

export const NO_TRUST: TrustTexts = { keys: "", log: "", witnesses: "", quorum: "" };

/** The keys that the reader trusts. */
export interface Trust {
  /** The keys of relays, agents and issuers. */
  readonly keys: readonly NamedKey[];
  readonly log: LogOptions;
}

export type ParsedTrust =
  | { readonly ok: true; readonly trust: Trust }
  | { readonly ok: false; readonly field: keyof TrustTexts; readonly message: string };

const fields = { log: "log", witness: "witnesses", quorum: "quorum" } as const;
const messages = {
  log: "This is not the key of a log. Such a key is <name>+<8 hex digits>+<base64>.",
  missingLog: "Name the key of the log that the witnesses cosign.",
  witness: "This is not a list of witness keys. Such a key is <name>+<8 hex digits>+<base64>.",
  quorum: "The quorum must be a number from 1 to the number of witnesses.",
} as const;

/** Parses the fields of the page by the rules of the command `agent-verify`; an empty field names nothing. */
export function parseTrust(texts: TrustTexts): ParsedTrust {
  const keys = parseKeys(texts.keys);
  if (!keys.ok) {
    const message = `“${showLine(keys.word, 40)}” is not a key. A key is ${NAMED_KEY_FORM}.`;
    return { ok: false, field: "keys", message };
  }
  const log = parseLogOptions({
    log: texts.log.trim() || undefined,
    witness: splitWords(texts.witnesses),
    quorum: texts.quorum.trim() || undefined,
  });
  if (log.ok) return { ok: true, trust: { keys: keys.keys, log: log.options } };
  const isMissing = log.option === "log" && texts.log.trim() === "";
  const message = messages[isMissing ? "missingLog" : log.option];
  return { ok: false, field: fields[log.option], message };
}

export const splitWords = (text: string): string[] => text.split(/\s+/).filter(Boolean);
