import type { FileVerdict } from "./verifying/verify-file.ts";
import { showLine } from "../shared/format/show-text.ts";
import { bytesToHex } from "@agent/crypto";

interface LogPlaceTextProps {
  readonly fileVerdict: FileVerdict;
  /** The number of witnesses that the reader named. */
  readonly trustedWitnesses: number;
}

/** Shows the position of the file in the transparency log, the head that covers it, and the head's cosigners. */
export function LogPlaceText({ fileVerdict, trustedWitnesses }: LogPlaceTextProps) {
  const { logPlace, uses } = fileVerdict;
  if (logPlace === null && !uses.succession) return null;
  return (
    <dl class="facts log">
      {logPlace !== null && (
        <>
          <dt>In the log</dt>
          <dd>
            <code>{showLine(logPlace.origin, 220)}</code>,{" "}
            {logPlace.isNamed ? "whose key you named" : "by a key that only the relay states"}
          </dd>
          <dd>
            {logPlace.indexes.length === 1 ? "entry" : "entries"} {logPlace.indexes.join(", ")} of{" "}
            {logPlace.size}
            {uses.proof && ", proven by the proof file given with it"}
          </dd>
          <dd>
            head <code data-head>{bytesToHex(logPlace.root)}</code>
          </dd>
          <dt>Witnesses</dt>
          <dd>{describeWitnesses(logPlace.witnesses, trustedWitnesses)}</dd>
        </>
      )}
      {uses.succession && (
        <>
          <dt>The relay's key</dt>
          <dd>
            It was signed by an earlier or later key of the relay whose key you named, as the given
            key succession proves.
          </dd>
        </>
      )}
    </dl>
  );
}

function describeWitnesses(names: readonly string[], trusted: number): string {
  if (trusted === 0) return "none named: the relay may show others a different log";
  const shown = names.map((name) => showLine(name, 220)).join(", ");
  return `${names.length} of the ${trusted} that you named${shown === "" ? "" : `: ${shown}`}`;
}
