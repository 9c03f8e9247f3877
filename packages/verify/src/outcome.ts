import type { VerifyOptions } from "./artifacts/options.ts";
import type { ArtifactKind } from "./kind.ts";
import type { Verdict } from "./verdict.ts";

/** `unanchored`: every check passed, but only a relay signed it, with a key that the caller did not name. */
export type Outcome = "valid" | "unanchored" | "refused";

/**
 * Whether only a relay signs a kind. Without a named key such artifacts prove nothing, because the person
 * who presents a file can invent a relay and its agents.
 */
const relaySignedKinds: Readonly<Record<ArtifactKind, boolean>> = {
  bundle: true,
  settlement: true,
  attestation: true,
  no_show: true,
  receipt: false,
  credential: false,
  presentation: false,
  ledger: false,
  succession: false,
  relay_succession: false,
  delegation_token: false,
  // Verified only with a named log key, which belongs to the log alone.
  log_proof: false,
  checkpoint: false,
};

/** Returns whether the proof of a kind depends only on the relay's key. */
export function isRelaySigned(kind: ArtifactKind): boolean {
  return relaySignedKinds[kind];
}

/** Returns the outcome of a verdict, given the keys that the caller named. */
export function getOutcome(
  { kind, valid }: Verdict,
  { publicKey }: Pick<VerifyOptions, "publicKey">,
): Outcome {
  if (!valid) return "refused";
  return publicKey === undefined && kind !== null && isRelaySigned(kind) ? "unanchored" : "valid";
}
