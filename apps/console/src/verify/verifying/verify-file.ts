import { bytesToHex, parseJsonText, sha256 } from "@agent/crypto";
import {
  type Claim,
  getClaim,
  getOutcome,
  type Outcome,
  type Verdict,
  verifyArtifact,
  verifyBundle,
  type VerifyOptions,
} from "@agent/verify";
import { decodeText, findEncodingFault, findJsonFault, type TextFault } from "./find-text-fault.ts";

/** A file as it was given to the page. */
export interface GivenFile {
  readonly id: number;
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * `confirmed`: valid, signed by a key that the reader named. `unconfirmed`: valid, but by a key that
 * was not named, so that any person can have made the file.
 */
export type FileState = "confirmed" | "unconfirmed" | "refused" | "unreadable";

export interface FileVerdict {
  readonly state: FileState;
  readonly sha256: string;
  /** The parsed artifact; its text where it is no JSON. */
  readonly artifact: unknown;
  readonly verdict: Verdict;
  readonly outcome: Outcome;
  readonly claim: Claim | null;
  readonly fault: TextFault | null;
  /** Whether a reformatted bundle still has the members that were signed. */
  readonly membersHold: boolean;
}

/** Verifies one file under the named keys at a time in ms. */
export function verifyFile(bytes: Uint8Array, keys: readonly string[], now: number): FileVerdict {
  const options = { now, publicKey: keys.length === 0 ? undefined : keys };
  const text = decodeText(bytes);
  const verdict = verifyArtifact(text ?? "", options);
  const artifact = text === null ? null : (parseJsonText(text)?.value ?? text);
  const content =
    verdict.code === "bundle.not_canonical" ? verifyBundle(artifact, options) : verdict;
  return {
    state: getState(verdict, options),
    sha256: bytesToHex(sha256(bytes)),
    artifact,
    verdict,
    outcome: getOutcome(verdict, options),
    claim: getClaim(content, artifact),
    fault: findFault(verdict, text, bytes),
    membersHold: content !== verdict && content.valid,
  };
}

/** A file is confirmed only if a key was named and a check has compared it with the signer's. */
function getState(verdict: Verdict, { publicKey }: VerifyOptions): FileState {
  if (verdict.kind === null) return "unreadable";
  if (!verdict.valid) return "refused";
  const isBound = verdict.checks.some(({ name, ok }) => name === "key_bound" && ok);
  return publicKey !== undefined && isBound ? "confirmed" : "unconfirmed";
}

function findFault({ code }: Verdict, text: string | null, bytes: Uint8Array): TextFault | null {
  if (text === null) return findEncodingFault(bytes);
  return code === "artifact.unreadable" ? findJsonFault(text) : null;
}
