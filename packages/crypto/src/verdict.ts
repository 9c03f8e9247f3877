/** The result of one check. A failed check of a valid document is a warning. */
export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly code?: string;
}

/** The result of a verification: its checks in order, up to the one that refused the document. */
export type Verdict<Refusal extends string = string> = {
  readonly checks: readonly CheckResult[];
  /** One verdict per signed document inside, in its order; empty when the outer one is refused. */
  readonly nested: readonly Verdict<Refusal>[];
} & (
  | { readonly valid: true; readonly code?: undefined }
  | { readonly valid: false; readonly code: Refusal }
);
