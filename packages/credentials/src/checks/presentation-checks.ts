import type { Check } from "@agent/crypto";
import { isUnexpired } from "./credential-checks.ts";
import type { ExternalCheck } from "./external-check.ts";
import { type ProofCheckContext, createProofChecks } from "./proof-checks.ts";
import type { PresentationRefusal } from "../refusals.ts";
import type { VerifiablePresentation } from "../schema.ts";

/** The values that a presentation is checked against; an undefined one is not checked. */
export interface PresentationCheckContext extends ProofCheckContext {
  /** The verifier's clock in ms since the epoch. */
  readonly now: number;
  readonly challenge: string | undefined;
  readonly audience: string | undefined;
}

/** The checks of a presentation's own proof, in the order in which they run. */
export const PRESENTATION_CHECKS: readonly Check<
  VerifiablePresentation,
  PresentationCheckContext,
  PresentationRefusal,
  never,
  ExternalCheck
>[] = [
  ...createProofChecks<"presentation", VerifiablePresentation>(
    "presentation",
    "authentication",
    "holder",
  ),
  {
    name: "valid_until",
    refusal: "presentation.expired",
    test: ({ proof: { expires } }, { now }) =>
      expires === undefined ? undefined : isUnexpired(expires, now),
  },
  {
    name: "challenge",
    refusal: "presentation.challenge_mismatch",
    test: ({ proof }, { challenge }) =>
      challenge === undefined ? undefined : proof.challenge === challenge,
  },
  {
    name: "audience",
    refusal: "presentation.audience_mismatch",
    test: ({ proof }, { audience }) =>
      audience === undefined ? undefined : proof.domain === audience,
  },
];
