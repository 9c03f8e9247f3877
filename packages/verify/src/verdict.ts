import type { ArtifactKind } from "./kind.ts";
import type { ArtifactRefusal } from "./refusals.ts";
import type { ProofLevelName } from "./proof-levels.ts";

/** One rung that was judged; one that does not hold on a valid artifact is a remark. */
export interface CheckResult {
  readonly name: ProofLevelName;
  readonly ok: boolean;
  readonly code?: string;
}

/**
 * What a verifier found: the rungs that it judged, in the ladder's order. A rung that is not among
 * them is neither proven nor refuted: the artifact or the caller had nothing to judge it by.
 */
export type Verdict = {
  /** Null for what is no artifact of a known kind. */
  readonly kind: ArtifactKind | null;
  readonly checks: readonly CheckResult[];
  /** One verdict per artifact inside, in its order. */
  readonly nested: readonly Verdict[];
} & (
  | { readonly valid: true; readonly code?: undefined }
  | { readonly valid: false; readonly code: ArtifactRefusal }
);
