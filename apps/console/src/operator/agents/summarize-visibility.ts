import type { Visibility } from "@agent/wire";

export interface VisibilitySummary {
  /** The class of the sentence; absent where it is neither good nor bad. */
  readonly tone?: "good" | "bad";
  readonly text: string;
}

/** States the result of a visibility report. An agent that is revoked or offline has a hint while its checks hold. */
export function summarizeVisibility({
  checks,
  hints,
}: Pick<Visibility, "checks" | "hints">): VisibilitySummary {
  const failed = checks.filter(({ ok }) => !ok).length;
  if (failed > 0) return { tone: "bad", text: `✗ ${failed} of ${checks.length} checks fail.` };
  if (hints.length > 0) return { text: "All checks hold." };
  return { tone: "good", text: "✓ Nothing keeps it from being found." };
}
