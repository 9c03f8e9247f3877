import { KEY_TYPES, parseVerifierKey, type VerifierKey } from "@agent/transparency";
import type { LogOptions } from "../artifacts/options.ts";

type ParseLogOptionsResult =
  | { readonly ok: true; readonly options: LogOptions }
  | { readonly ok: false; readonly message: string };

/** Parses `--log`, `--witness` and `--quorum`; a quorum that the witnesses cannot reach is refused. */
export function parseLogOptions(values: {
  readonly log?: string | undefined;
  readonly witness?: readonly string[] | undefined;
  readonly quorum?: string | undefined;
}): ParseLogOptionsResult {
  const logKey = values.log === undefined ? undefined : parseKeyOf(values.log, "log");
  if (logKey === null) return refuse("--log takes the verifier key of a log");
  const keys = values.witness?.map((text) => parseKeyOf(text, "witness")) ?? [];
  const witnesses = keys.filter((key) => key !== null);
  if (witnesses.length < keys.length)
    return refuse("--witness takes the verifier key of a witness");
  if (values.quorum === undefined) return { ok: true, options: { logKey, witnesses } };
  const quorum = /^[1-9]\d?$/.test(values.quorum) ? Number(values.quorum) : Number.NaN;
  const isReachable = quorum <= witnesses.length;
  return isReachable
    ? { ok: true, options: { logKey, witnesses, quorum } }
    : refuse("--quorum takes a number from 1 to that of the witnesses named by --witness");
}

function parseKeyOf(text: string, type: keyof typeof KEY_TYPES): VerifierKey | null {
  const parsed = parseVerifierKey(text);
  return parsed.ok && parsed.key.type === KEY_TYPES[type] ? parsed.key : null;
}

const refuse = (message: string): ParseLogOptionsResult => ({ ok: false, message });
