import type { CheckResult, Verdict } from "@agent/crypto";

/** The verdict of checks that are made one after another until one refuses. */
export function runChecks<Refusal extends string>(
  orderedChecks: readonly (readonly [name: string, refusal: Refusal, holds: () => boolean])[],
): Verdict<Refusal> {
  const checks: CheckResult[] = [];
  for (const [name, code, test] of orderedChecks) {
    if (!test()) {
      return { valid: false, code, checks: [...checks, { name, ok: false, code }], nested: [] };
    }
    checks.push({ name, ok: true });
  }
  return { valid: true, checks, nested: [] };
}
