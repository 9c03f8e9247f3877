import { openCheckpoint, parseVerifierKey } from "@agent/transparency";
import type { VerifyOptions } from "../artifacts/options.ts";
import type { EvidenceBundle } from "../bundle/schema.ts";
import { toPrintable } from "../claim/format.ts";
import type { Verdict } from "../verdict.ts";

/** Formats where the log of a bundle holds its parts, by whose key, and who cosigned it. */
export function formatLogLines(
  { kind, checks }: Verdict,
  artifact: unknown,
  { log: { logKey, witnesses = [] } = {} }: VerifyOptions,
): string[] {
  const isLogged = checks.some(({ name, ok }) => name === "logged" && ok);
  const log = kind === "bundle" && isLogged ? (artifact as EvidenceBundle).log : undefined;
  const stated = log === undefined ? undefined : parseVerifierKey(log.vkey);
  if (log === undefined || stated?.ok !== true) return [];
  const opened = openCheckpoint(log.checkpoint, { logKey: logKey ?? stated.key, witnesses });
  if (!opened.ok) return [];
  const places = log.entries.map(({ index }) => index).join(", ");
  const key =
    logKey === undefined
      ? "by the log key that the relay states (name it with --log)"
      : "by the log key that you named";
  const { length: count } = opened.cosignatures;
  const names = opened.cosignatures.map(({ witness }) => toPrintable(witness.name)).join(", ");
  return [
    `in log ${toPrintable(log.origin)} of ${opened.head.size} entries at ${places}, ${key}`,
    ...(count === 0 ? [] : [`witnessed ${count} of ${witnesses.length}, by ${names}`]),
  ];
}
