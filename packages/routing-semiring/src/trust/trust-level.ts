/** The levels from no history to the highest trust, and `blocked`, which is final. */
export type TrustLevel = "unknown" | "first_contact" | "verified" | "trusted" | "blocked";

export const ascendingLevels = ["unknown", "first_contact", "verified", "trusted"] as const;

const levelScores: Record<TrustLevel, number> = {
  unknown: 0.1,
  first_contact: 0.3,
  verified: 0.6,
  trusted: 0.9,
  blocked: 0,
};

/** Returns the score of a level, 0..1. */
export function getTrustScore(level: TrustLevel): number {
  return levelScores[level];
}

/**
 * Computes the level after one more counted task; `successes` and `failures` include it. The first task
 * leads to first_contact. A success raises the level to the one that the record has earned: verified with 5
 * successes at a rate of 0.8, trusted with 20 at 0.9. A failure lowers it by one level if fewer than half
 * of at least 3 tasks succeeded. `blocked` never changes.
 */
export function computeNextLevel(
  level: TrustLevel,
  outcome: "completed" | "failed",
  successes: number,
  failures: number,
): TrustLevel {
  if (level === "blocked") return "blocked";
  const counted = successes + failures;
  const place = ascendingLevels.indexOf(level);
  if (outcome === "completed") {
    return ascendingLevels[Math.max(place, computeEarnedIndex(successes, counted))]!;
  }
  if (counted >= 3 && successes < counted * 0.5) return ascendingLevels[Math.max(place - 1, 0)]!;
  return counted === 1 ? ascendingLevels[Math.max(place, 1)]! : level;
}

function computeEarnedIndex(successes: number, counted: number): number {
  if (successes >= 20 && successes * 10 >= counted * 9) return 3;
  if (successes >= 5 && successes * 10 >= counted * 8) return 2;
  return 1;
}
