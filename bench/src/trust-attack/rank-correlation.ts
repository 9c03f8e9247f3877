import type { RankedCandidate } from "@agent/routing-semiring";

/** Computes Spearman's correlation of two rankings of the same agents; equal scores share a rank. */
export function computeRankCorrelation(
  one: readonly RankedCandidate[],
  other: readonly RankedCandidate[],
): number {
  const ranks = [one, other].map(getSharedRanks) as [Map<string, number>, Map<string, number>];
  const mean = (one.length - 1) / 2;
  let [product, squares, otherSquares] = [0, 0, 0];
  for (const [id, place] of ranks[0]) {
    const [x, y] = [place - mean, (ranks[1].get(id) ?? mean) - mean];
    product += x * y;
    squares += x * x;
    otherSquares += y * y;
  }
  return product / Math.sqrt(squares * otherSquares);
}

function getSharedRanks(ranked: readonly RankedCandidate[]): Map<string, number> {
  const byScore = Map.groupBy(
    ranked.map(({ agent_id, composite_score }, place) => ({ agent_id, composite_score, place })),
    ({ composite_score }) => composite_score.toFixed(12),
  );
  const ranks = new Map<string, number>();
  for (const group of byScore.values()) {
    const shared = group.reduce((sum, { place }) => sum + place, 0) / group.length;
    for (const { agent_id } of group) ranks.set(agent_id, shared);
  }
  return ranks;
}
