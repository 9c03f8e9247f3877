/** From no history to most trusted, and `blocked`, the end of it. */
export type TrustLevel = "unknown" | "first_contact" | "verified" | "trusted" | "blocked";

const ascendingLevels = ["unknown", "first_contact", "verified", "trusted"] as const;

const levelScores: Record<TrustLevel, number> = {
  unknown: 0.1,
  first_contact: 0.3,
  verified: 0.6,
  trusted: 0.9,
  blocked: 0,
};

/** The score of a level, 0..1. */
export function getTrustScore(level: TrustLevel): number {
  return levelScores[level];
}

/**
 * The level after one more counted task; `successes` and `failures` include it.
 *
 * A first task of either kind leads to first_contact. A success can lead up to what was earned:
 * verified with 5 successes at a rate of 0.8, trusted with 20 at 0.9. A failure leads one level down
 * when, of at least 3 tasks, fewer than half succeeded. `blocked` is never left.
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

/**
 * The level shown to an agent that asks about another: its own, if it has a record, else the best
 * level that at least two of those who paid the agent hold. Who is in `heldByPayers` is the
 * caller's to decide; one level for each payer, so that nobody vouches twice.
 */
export function selectDisplayedLevel(
  own: TrustLevel | null,
  heldByPayers: readonly TrustLevel[],
): TrustLevel {
  if (own !== null) return own;
  const places = heldByPayers
    .filter((level) => level !== "blocked")
    .map((level) => ascendingLevels.indexOf(level))
    .sort((a, b) => b - a);
  return ascendingLevels[places[1] ?? 0]!;
}

function computeEarnedIndex(successes: number, counted: number): number {
  if (successes >= 20 && successes * 10 >= counted * 9) return 3;
  if (successes >= 5 && successes * 10 >= counted * 8) return 2;
  return 1;
}
