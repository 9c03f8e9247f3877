import type { ArtifactKind } from "../kind.ts";
import type { Verdict } from "../verdict.ts";
import {
  describeCredential,
  describeDelegationToken,
  describeLedger,
  describePresentation,
  describeReceipt,
  describeSuccession,
} from "./agent-claims.ts";
import type { Claim } from "./claim.ts";
import { describeCheckpoint, describeLogProof } from "./log-claims.ts";
import {
  describeAttestation,
  describeBundle,
  describeNoShow,
  describeSettlement,
} from "./relay-claims.ts";

/**
 * The description of each kind; every member read here exists in an artifact that passed
 * `well_formed`.
 */
const claimBuilders: Readonly<Record<ArtifactKind, (artifact: never) => Claim>> = {
  bundle: describeBundle,
  receipt: describeReceipt,
  credential: describeCredential,
  presentation: describePresentation,
  ledger: describeLedger,
  succession: describeSuccession,
  relay_succession: describeSuccession,
  settlement: describeSettlement,
  attestation: describeAttestation,
  no_show: describeNoShow,
  delegation_token: describeDelegationToken,
  log_proof: describeLogProof,
  checkpoint: describeCheckpoint,
};

/**
 * Returns the statement of an artifact in words: the parties, the action, the time, the amount and
 * the signer. Null for artifacts of an unknown kind or a malformed one.
 *
 * @param artifact the parsed artifact that the verdict is about; of a proof file or a checkpoint its text
 */
export function getClaim(verdict: Verdict, artifact: unknown): Claim | null {
  const isMalformed = verdict.checks.some(({ name, ok }) => name === "well_formed" && !ok);
  if (verdict.kind === null || (!verdict.valid && isMalformed)) return null;
  return claimBuilders[verdict.kind](artifact as never);
}
