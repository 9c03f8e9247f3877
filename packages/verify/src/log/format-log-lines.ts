import type { VerifyOptions } from "../artifacts/options.ts";
import { formatCount, toPrintable } from "../claim/format.ts";
import type { Verdict } from "../verdict.ts";
import { findLogPlace } from "./find-log-place.ts";

/**
 * Formats where the log holds an artifact or the parts of a bundle, by whose key, and who cosigned it.
 *
 * @param proofFile the proof file that the artifact was verified with
 */
export function formatLogLines(
  verdict: Verdict,
  artifact: unknown,
  options: VerifyOptions,
  proofFile?: string,
): string[] {
  const place = findLogPlace(verdict, artifact, options, proofFile);
  if (place === null) return [];
  const { origin, size, indexes, isNamed, witnesses } = place;
  const key = isNamed
    ? "by the log key that you named"
    : "by the log key that the relay states (name it with --log)";
  const names = witnesses.map(toPrintable).join(", ");
  const named = options.log?.witnesses?.length ?? 0;
  const counted = `witnessed ${witnesses.length} of ${named}`;
  return [
    // The claim of a proof file already states this.
    ...(verdict.kind === "log_proof"
      ? []
      : [
          `in log ${toPrintable(origin)} of ${formatCount(size, "entry", "entries")} at ${indexes.join(", ")}, ${key}`,
        ]),
    ...(named === 0 ? [] : [names === "" ? counted : `${counted}, by ${names}`]),
  ];
}
