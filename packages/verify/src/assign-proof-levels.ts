import { type ProofLevelName, PROOF_LEVELS } from "./proof-levels.ts";
import type { CheckResult } from "./verdict.ts";

/** A check of one of the packages below, under a name of its own. */
export interface NamedCheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly code?: string;
}

/** Which rung each check of a kind is a part of. */
export type CheckLevels = Readonly<Record<string, ProofLevelName>>;

/** The rungs that a kind's checks add up to. */
export function assignProofLevels(
  checks: readonly NamedCheckResult[],
  levels: CheckLevels,
): CheckResult[] {
  return mergeChecks(
    checks.map((check) => {
      const name = levels[check.name];
      if (name === undefined) throw new Error(`the check ${check.name} has no rung`);
      return { ...check, name };
    }),
  );
}

/** One check a rung, in the ladder's order: it holds when all do, else the first failure names it. */
export function mergeChecks(checks: readonly CheckResult[]): CheckResult[] {
  const byLevel = new Map<ProofLevelName, CheckResult>();
  for (const check of checks) {
    if (byLevel.get(check.name)?.ok !== false) byLevel.set(check.name, check);
  }
  return PROOF_LEVELS.flatMap(({ name }) => byLevel.get(name) ?? []);
}
