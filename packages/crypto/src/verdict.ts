/** One rung of a verifier's ladder that was judged; one that fails on a valid document is a remark. */
export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly code?: string;
}

/** What a verifier found: the rungs in the order they were judged, up to the one that refused. */
export type Verdict<Refusal extends string = string> = {
  readonly checks: readonly CheckResult[];
  /** One verdict per signed document inside, in its order; empty when the outer one is refused. */
  readonly nested: readonly Verdict<Refusal>[];
} & (
  | { readonly valid: true; readonly code?: undefined }
  | { readonly valid: false; readonly code: Refusal }
);
