import type { VerifyOptions } from "../artifacts/options.ts";
import { toPrintable } from "../claim/format.ts";
import type { Verdict } from "../verdict.ts";
import { findLogPlace } from "./find-log-place.ts";

/** Formats where the log of a bundle holds its parts, by whose key, and who cosigned it. */
export function formatLogLines(
  verdict: Verdict,
  artifact: unknown,
  options: VerifyOptions,
): string[] {
  const place = verdict.kind === "bundle" ? findLogPlace(verdict, artifact, options) : null;
  if (place === null) return [];
  const { origin, size, indexes, isNamed, witnesses } = place;
  const key = isNamed
    ? "by the log key that you named"
    : "by the log key that the relay states (name it with --log)";
  const names = witnesses.map(toPrintable).join(", ");
  return [
    `in log ${toPrintable(origin)} of ${size} entries at ${indexes.join(", ")}, ${key}`,
    ...(names === ""
      ? []
      : [`witnessed ${witnesses.length} of ${options.log?.witnesses?.length ?? 0}, by ${names}`]),
  ];
}
