/** One rung of the ladder that was judged; a rung that fails on a valid artifact is a remark. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly code?: string;
}

/** What a verifier found: the rungs in the order they were judged, up to the one that refused. */
export type Verdict<Refusal extends string = string> = {
  readonly checks: readonly Check[];
  /** One verdict per nested artifact, in its order; empty when the outer one is refused. */
  readonly nested: readonly Verdict<Refusal>[];
} & (
  | { readonly valid: true; readonly code?: undefined }
  | { readonly valid: false; readonly code: Refusal }
);

/** The verdict of checks that are made one after another until one refuses. */
export function judgeInOrder<Refusal extends string>(
  rungs: readonly (readonly [name: string, refusal: Refusal, holds: () => boolean])[],
): Verdict<Refusal> {
  const checks: Check[] = [];
  for (const [name, code, holds] of rungs) {
    if (!holds()) {
      return { valid: false, code, checks: [...checks, { name, ok: false, code }], nested: [] };
    }
    checks.push({ name, ok: true });
  }
  return { valid: true, checks, nested: [] };
}
