import type { ArtifactKind } from "../kind.ts";
import type { Verdict } from "../verdict.ts";
import {
  credentialClaim,
  delegationTokenClaim,
  ledgerClaim,
  presentationClaim,
  receiptClaim,
  successionClaim,
} from "./agent-claims.ts";
import type { Claim } from "./claim.ts";
import { attestationClaim, bundleClaim, noShowClaim, settlementClaim } from "./relay-claims.ts";

/** How each kind is put into words; an artifact that passed `well_formed` has every member read here. */
const CLAIMS: Readonly<Record<ArtifactKind, (artifact: never) => Claim>> = {
  bundle: bundleClaim,
  receipt: receiptClaim,
  credential: credentialClaim,
  presentation: presentationClaim,
  ledger: ledgerClaim,
  succession: successionClaim,
  relay_succession: successionClaim,
  settlement: settlementClaim,
  attestation: attestationClaim,
  no_show: noShowClaim,
  delegation_token: delegationTokenClaim,
};

/**
 * What an artifact says, in words: who did what for whom, when, for how much and by whose word. Null for
 * what is of no known kind or not of its kind's form.
 *
 * @param artifact the parsed artifact that the verdict is about
 */
export function claimOf(verdict: Verdict, artifact: unknown): Claim | null {
  const isMalformed = verdict.checks.some(({ name, ok }) => name === "well_formed" && !ok);
  if (verdict.kind === null || (!verdict.valid && isMalformed)) return null;
  return CLAIMS[verdict.kind](artifact as never);
}
