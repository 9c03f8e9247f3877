import type { ExecutionReceipt } from "@agent/receipts";
import type { VerifyOptions } from "../artifacts/options.ts";
import { findReceiptKey } from "../keys/find-receipt-key.ts";
import type { NamedKeys } from "../keys/named-keys.ts";
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
const claimBuilders: Readonly<Record<ArtifactKind, (artifact: never, named?: NamedKeys) => Claim>> =
  {
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
 * @param options those that it was verified with
 */
export function getClaim(
  verdict: Verdict,
  artifact: unknown,
  { publicKey }: Pick<VerifyOptions, "publicKey"> = {},
): Claim | null {
  const isMalformed = verdict.checks.some(({ name, ok }) => name === "well_formed" && !ok);
  if (verdict.kind === null || (!verdict.valid && isMalformed)) return null;
  const built = claimBuilders[verdict.kind](artifact as never, publicKey);
  const claim =
    verdict.kind === "receipt" && verdict.valid
      ? { ...built, key: findReceiptKey(artifact as ExecutionReceipt, publicKey) ?? null }
      : built;
  return isUnboundInside(verdict)
    ? {
        ...claim,
        details: [...claim.details, "not all inside it was signed by keys that you named"],
      }
    : claim;
}

/** Returns whether the artifact may contain valid artifacts of signers whose keys the caller did not name. */
function isUnboundInside({ kind, checks, nested }: Verdict): boolean {
  return (
    (kind === "receipt" || kind === "presentation") &&
    nested.length > 0 &&
    !checks.some(({ name }) => name === "nested")
  );
}
