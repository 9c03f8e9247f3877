import { bytesToHex, parseJsonText, sha256 } from "@agent/crypto";
import {
  type Claim,
  findLogPlace,
  getClaim,
  getOutcome,
  type LogPlace,
  type Outcome,
  type Verdict,
  verifyArtifact,
  verifyBundle,
  verifyLogProof,
  type VerifyOptions,
} from "@agent/verify";
import type { Companions } from "./collect-companions.ts";
import { decodeText, findEncodingFault, findJsonFault, type TextFault } from "./find-text-fault.ts";
import type { Trust } from "./parse-trust.ts";

/** A file as it was given to the page. */
export interface GivenFile {
  readonly id: number;
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * `confirmed`: valid, and signed with a key that the reader named. `unconfirmed`: valid, but signed with a key
 * that was not named, so anyone can have created the file.
 */
export type FileState = "confirmed" | "unconfirmed" | "refused" | "unreadable";

export interface FileVerdict {
  readonly state: FileState;
  readonly sha256: string;
  /** The parsed artifact, or its text if that is not JSON. */
  readonly artifact: unknown;
  readonly verdict: Verdict;
  readonly outcome: Outcome;
  readonly claim: Claim | null;
  readonly fault: TextFault | null;
  /** Whether the members of a reformatted bundle are still the signed ones. */
  readonly membersHold: boolean;
  /** The file's position in a transparency log; null if nothing proves one. */
  readonly logPlace: LogPlace | null;
  /** Whether the verdict relies on another given file: on a proof file, or on the succession of a relay's key. */
  readonly uses: { readonly proof: boolean; readonly succession: boolean };
}

export interface VerifyFileContext {
  readonly trust: Trust;
  readonly companions: Companions;
  /** The time in ms. */
  readonly now: number;
}

/** Verifies one file with the keys that the reader named, and with the help of the other given files. */
export function verifyFile(bytes: Uint8Array, context: VerifyFileContext): FileVerdict {
  const { trust, companions, now } = context;
  const { keys, log } = trust;
  const named = { now, publicKey: keys.length === 0 ? undefined : keys, log };
  const text = decodeText(bytes);
  const { verdict: alone, succession } = verifyText(text ?? "", named, companions);
  const options = { ...named, relaySuccession: succession };
  const artifact = text === null ? null : (parseJsonText(text)?.value ?? text);
  const { verdict, proof } = verifyPlace(alone, artifact, options, companions);
  const content =
    verdict.code === "bundle.not_canonical" ? verifyBundle(artifact, options) : verdict;
  return {
    state: getState(verdict, options),
    sha256: bytesToHex(sha256(bytes)),
    artifact,
    verdict,
    outcome: getOutcome(verdict, options),
    claim: getClaim(content, artifact, options),
    fault: findFault(verdict, text, bytes),
    membersHold: content !== verdict && content.valid,
    logPlace: findLogPlace(verdict, artifact, options, proof),
    uses: { proof: proof !== undefined, succession: succession !== undefined },
  };
}

/**
 * Verifies with the relevant succession. One that ended the key of a file also counts if the file would be
 * valid without it, because a former key may have been stolen.
 */
function verifyText(text: string, options: VerifyOptions, { successions }: Companions) {
  const verdict = verifyArtifact(text, options);
  const isBare = verdict.kind === null || verdict.kind === "relay_succession";
  if (isBare || options.publicKey === undefined) return { verdict, succession: undefined };
  const others = successions.map((succession) => ({
    verdict: verifyArtifact(text, { ...options, relaySuccession: succession }),
    succession,
  }));
  const ended = others.find((other) => other.verdict.code === "bundle.key_not_in_force");
  const helped = verdict.valid ? undefined : others.find((other) => other.verdict.valid);
  return ended ?? helped ?? { verdict, succession: undefined };
}

/** Matches the codes of a proof of something else, and of a file that does not state what it proves. */
const FOREIGN = /mismatch|malformed/;

/**
 * Adds the given proof of this artifact; without one, the verdict is that of a missing proof. If no proof of
 * this artifact is valid, the first one gives the reason.
 */
function verifyPlace(
  verdict: Verdict,
  artifact: unknown,
  options: VerifyOptions,
  { proofs }: Companions,
): { readonly verdict: Verdict; readonly proof: string | undefined } {
  const place = (proof?: string) => ({
    verdict: verifyLogProof(verdict, artifact, proof, options),
    proof,
  });
  const isAsked = verdict.valid && options.log?.logKey !== undefined;
  const tried = isAsked ? proofs.map(place) : [];
  return (
    tried.find((each) => each.verdict.valid) ??
    tried.find((each) => !FOREIGN.test(each.verdict.code ?? "")) ??
    place()
  );
}

/** A file is confirmed only if a key was named and a check has compared it with the signer's key. */
function getState(verdict: Verdict, { publicKey, log }: VerifyOptions): FileState {
  const { kind, valid, checks } = verdict;
  if (kind === null) return "unreadable";
  if (!valid) return "refused";
  const named = kind === "log_proof" || kind === "checkpoint" ? log?.logKey : publicKey;
  const isBound = checks.some(({ name, ok }) => name === "key_bound" && ok);
  return named !== undefined && isBound ? "confirmed" : "unconfirmed";
}

function findFault({ code }: Verdict, text: string | null, bytes: Uint8Array): TextFault | null {
  if (text === null) return findEncodingFault(bytes);
  return code === "artifact.unreadable" ? findJsonFault(text) : null;
}
