import type { ArtifactKind } from "./kind.ts";
import type { ArtifactRefusal } from "./refusals.ts";
import type { ProofLevelName } from "./proof-levels.ts";

/** The result of one proof level; a failed level of a valid artifact is a warning. */
export interface CheckResult {
  readonly name: ProofLevelName;
  readonly ok: boolean;
  readonly code?: string;
}

/**
 * The verdict on an artifact: its proof levels, in order. A missing level is neither proven nor refuted,
 * because neither the artifact nor the caller provided anything to verify.
 */
export type Verdict = {
  /** Null if the kind is unknown. */
  readonly kind: ArtifactKind | null;
  readonly checks: readonly CheckResult[];
  /** One verdict per artifact inside, in its order. */
  readonly nested: readonly Verdict[];
} & (
  | { readonly valid: true; readonly code?: undefined }
  | { readonly valid: false; readonly code: ArtifactRefusal }
);
