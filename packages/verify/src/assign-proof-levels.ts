import type { CheckResult as NamedCheckResult } from "@agent/crypto";
import { type ProofLevelName, PROOF_LEVELS } from "./proof-levels.ts";
import type { CheckResult } from "./verdict.ts";

/** A check of one of the underlying packages, under its own name. */
export type { NamedCheckResult };

/** The proof level of each check of a kind. */
export type CheckLevels = Readonly<Record<string, ProofLevelName>>;

/** Assigns the checks of a kind to its proof levels. */
export function assignProofLevels(
  checks: readonly NamedCheckResult[],
  levels: CheckLevels,
): CheckResult[] {
  return mergeChecks(
    checks.map((check) => {
      const name = levels[check.name];
      if (name === undefined) throw new Error(`the check ${check.name} has no proof level`);
      return { ...check, name };
    }),
  );
}

/**
 * Combines checks to one per proof level, in the order of the levels: it passes if all pass,
 * otherwise the first failure counts.
 */
export function mergeChecks(checks: readonly CheckResult[]): CheckResult[] {
  const byLevel = new Map<ProofLevelName, CheckResult>();
  for (const check of checks) {
    if (byLevel.get(check.name)?.ok !== false) byLevel.set(check.name, check);
  }
  return PROOF_LEVELS.flatMap(({ name }) => byLevel.get(name) ?? []);
}
