import type { Check } from "./run-checks.ts";
import { isUnexpired } from "./credential-checks.ts";
import { type ProofCheckContext, createProofChecks } from "./proof-checks.ts";
import type { PresentationRefusal } from "../refusals.ts";
import type { VerifiablePresentation } from "../schema.ts";

/** What a presentation is judged against; what is undefined is not asked. */
export interface PresentationCheckContext extends ProofCheckContext {
  readonly now: number;
  readonly challenge: string | undefined;
  readonly audience: string | undefined;
}

/** The checks of a presentation's own proof, in the order in which they refuse it. */
export const PRESENTATION_CHECKS: readonly Check<
  VerifiablePresentation,
  PresentationCheckContext,
  PresentationRefusal
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
