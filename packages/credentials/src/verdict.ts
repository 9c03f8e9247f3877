/** One rung of the ladder that was judged; a rung that fails on a valid document is a remark. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly code?: string;
}

/** What a verifier found: the rungs in the order they were judged, up to the one that refused. */
export type Verdict<Refusal extends string = string> = {
  readonly checks: readonly Check[];
  /** One verdict per credential of a presentation whose own proof holds, in its order. */
  readonly nested: readonly Verdict<Refusal>[];
} & (
  | { readonly valid: true; readonly code?: undefined }
  | { readonly valid: false; readonly code: Refusal }
);
