import { PROOF_LEVELS, type Verdict } from "@agent/verify";

/** The verdict of this browser on a task's evidence, as a sentence and a colour. */
export interface DescribedEvidence {
  readonly tone: "good" | "doubt" | "bad";
  readonly sentence: string;
}

/** Describes a verdict; valid evidence with a failed check must not look like evidence without one. */
export function describeEvidence(verdict: Verdict): DescribedEvidence {
  if (!verdict.valid) {
    return { tone: "bad", sentence: `✗ Refused in this browser: ${verdict.code ?? "unknown"}` };
  }
  const checks = listChecks(verdict);
  const failed = PROOF_LEVELS.filter(({ name }) =>
    checks.some((check) => check.name === name && !check.ok),
  );
  return failed.length === 0
    ? {
        tone: "good",
        sentence: `✓ Verified in this browser: all ${checks.length} checks of the evidence hold`,
      }
    : {
        tone: "doubt",
        sentence: `! Signed by this relay, but this does not hold: ${failed.map(({ title }) => title).join(", ")}`,
      };
}

/** Lists the checks of an artifact and of all artifacts inside it. */
function listChecks({ checks, nested }: Verdict): Verdict["checks"] {
  return [...checks, ...nested.flatMap(listChecks)];
}
