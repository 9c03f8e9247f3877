import type { Rung } from "./climb.ts";
import { isOpen } from "./credential-ladder.ts";
import { type KnownToProof, proofLadder } from "./proof-ladder.ts";
import type { PresentationRefusal } from "./refusals.ts";
import type { VerifiablePresentation } from "./schema.ts";

/** What a presentation is judged against; what is undefined is not asked. */
export interface KnownToPresentation extends KnownToProof {
  readonly now: number;
  readonly challenge: string | undefined;
  readonly audience: string | undefined;
}

/** The checks of a presentation's own proof, in the order in which they refuse it. */
export const PRESENTATION_LADDER: readonly Rung<
  VerifiablePresentation,
  KnownToPresentation,
  PresentationRefusal
>[] = [
  ...proofLadder<"presentation", VerifiablePresentation>(
    "presentation",
    "authentication",
    "holder",
  ),
  {
    name: "valid_until",
    refusal: "presentation.expired",
    holds: ({ proof: { expires } }, { now }) =>
      expires === undefined ? undefined : isOpen(expires, now),
  },
  {
    name: "challenge",
    refusal: "presentation.challenge_mismatch",
    holds: ({ proof }, { challenge }) =>
      challenge === undefined ? undefined : proof.challenge === challenge,
  },
  {
    name: "audience",
    refusal: "presentation.audience_mismatch",
    holds: ({ proof }, { audience }) =>
      audience === undefined ? undefined : proof.domain === audience,
  },
];
