import { KEY_TYPES, parseVerifierKey, type VerifierKey } from "@agent/transparency";
import type { LogOptions } from "../artifacts/options.ts";

/** The trusted log and witnesses as a person writes them. */
export interface LogOptionTexts {
  /** The verifier key of the log. */
  readonly log?: string | undefined;
  /** The verifier keys of the witnesses. */
  readonly witness?: readonly string[] | undefined;
  readonly quorum?: string | undefined;
}

export type ParseLogOptionsResult =
  | { readonly ok: true; readonly options: LogOptions }
  | { readonly ok: false; readonly option: keyof LogOptionTexts; readonly message: string };

/**
 * Parses the verifier keys of a log and its witnesses (C2SP signed-note) and the quorum, from 1 to the
 * number of witnesses. Refused with the option and a sentence about it if one of them is something else.
 */
export function parseLogOptions(texts: LogOptionTexts): ParseLogOptionsResult {
  const logKey = texts.log === undefined ? undefined : parseKeyOf(texts.log, "log");
  if (logKey === null) return refuse("log", "takes the verifier key of a log");
  const keys = texts.witness?.map((text) => parseKeyOf(text, "witness")) ?? [];
  const witnesses = keys.filter((key) => key !== null);
  if (witnesses.length < keys.length) {
    return refuse("witness", "takes the verifier key of a witness");
  }
  if (texts.quorum === undefined) return { ok: true, options: { logKey, witnesses } };
  const quorum = /^[1-9]\d?$/.test(texts.quorum) ? Number(texts.quorum) : Number.NaN;
  return quorum <= witnesses.length
    ? { ok: true, options: { logKey, witnesses, quorum } }
    : refuse("quorum", "takes a number from 1 to that of the named witnesses");
}

function parseKeyOf(text: string, type: keyof typeof KEY_TYPES): VerifierKey | null {
  const parsed = parseVerifierKey(text);
  return parsed.ok && parsed.key.type === KEY_TYPES[type] ? parsed.key : null;
}

const refuse = (option: keyof LogOptionTexts, message: string): ParseLogOptionsResult => ({
  ok: false,
  option,
  message,
});
