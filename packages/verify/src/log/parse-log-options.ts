import { KEY_TYPES, parseVerifierKey } from "@agent/transparency";
import type { LogOptions } from "../artifacts/options.ts";

/** The trusted log and witnesses as a user writes them. */
export interface LogOptionTexts {
  /** The verifier key of the log. */
  readonly log?: string | undefined;
  /** The verifier keys of the witnesses. */
  readonly witness?: readonly string[] | undefined;
  readonly quorum?: string | undefined;
}

/** The parsed options, or the invalid option with a sentence about it. */
export type ParseLogOptionsResult =
  | { readonly ok: true; readonly options: LogOptions }
  | { readonly ok: false; readonly option: keyof LogOptionTexts; readonly message: string };

const LOG_RULE =
  "takes the verifier key of a log: log.vkey in the relay's /.well-known/agent-relay.json";

/**
 * Parses the verifier keys of a log and its witnesses (C2SP signed-note) and the quorum, from 1 to the
 * number of witnesses. An invalid value is refused with its option and a sentence about it. So are
 * witnesses without a log, because a relay could then show the witnesses one log and the reader another.
 */
export function parseLogOptions(texts: LogOptionTexts): ParseLogOptionsResult {
  const log = texts.log === undefined ? undefined : parseVerifierKey(texts.log, KEY_TYPES.log);
  if (log?.ok === false) return refuse("log", LOG_RULE);
  const keys = texts.witness?.map((text) => parseVerifierKey(text, KEY_TYPES.witness)) ?? [];
  const witnesses = keys.flatMap((parsed) => (parsed.ok ? [parsed.key] : []));
  if (witnesses.length < keys.length) {
    return refuse("witness", "takes the verifier key of a witness");
  }
  const logKey = log?.key;
  if (witnesses.length > 0 && logKey === undefined) {
    return refuse("log", "must name the log that the witnesses cosign");
  }
  if (texts.quorum === undefined) return { ok: true, options: { logKey, witnesses } };
  const quorum = /^[1-9]\d?$/.test(texts.quorum) ? Number(texts.quorum) : Number.NaN;
  return quorum <= witnesses.length
    ? { ok: true, options: { logKey, witnesses, quorum } }
    : refuse("quorum", "takes a number from 1 to that of the named witnesses");
}

const refuse = (option: keyof LogOptionTexts, message: string): ParseLogOptionsResult => ({
  ok: false,
  option,
  message,
});
