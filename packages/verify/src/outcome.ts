import type { VerifyOptions } from "./artifacts/options.ts";
import type { ArtifactKind } from "./kind.ts";
import type { Verdict } from "./verdict.ts";

/** `unanchored`: everything in it holds, but by the word of a relay whose key the caller did not name. */
export type Outcome = "valid" | "unanchored" | "refused";

/**
 * The kinds that a relay signed alone. Without a named key they prove nothing at all, because a relay and
 * its agents can be made up by the one who shows the file.
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
};

/** Whether a kind is worth no more than the relay's key that signed it. */
export function isRelaySigned(kind: ArtifactKind): boolean {
  return relaySignedKinds[kind];
}

/** What a verdict comes to, given the keys that the caller named for it. */
export function getOutcome(
  { kind, valid }: Verdict,
  { publicKey }: Pick<VerifyOptions, "publicKey">,
): Outcome {
  if (!valid) return "refused";
  return publicKey === undefined && kind !== null && isRelaySigned(kind) ? "unanchored" : "valid";
}
