import type { Check, Verdict } from "@agent/crypto";

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
