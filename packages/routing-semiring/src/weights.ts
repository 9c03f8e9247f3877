/** The six factors of a candidate's score, each 0..1; higher is better. */
export interface SubScores {
  readonly trust: number;
  readonly success_rate: number;
  readonly latency: number;
  readonly price_efficiency: number;
  readonly capability_match: number;
  readonly availability: number;
}

/** The weight of each factor; only the proportions matter. */
export type Weights = SubScores;

/** The default weights of the specification ("Market"). */
export const DEFAULT_WEIGHTS: Weights = {
  trust: 0.25,
  success_rate: 0.25,
  latency: 0.15,
  price_efficiency: 0.15,
  capability_match: 0.1,
  availability: 0.1,
};

/** Scales the weights to a sum of 1; throws if one is negative or not finite, or all are 0. */
export function normalizeWeights(weights: Weights): Weights {
  const { trust, success_rate, latency, price_efficiency, capability_match, availability } =
    weights;
  const all = [trust, success_rate, latency, price_efficiency, capability_match, availability];
  const total = all.reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0 && total < Infinity && all.every((weight) => weight >= 0))) {
    throw new RangeError("weights must be finite, not negative, and not all 0");
  }
  return {
    trust: trust / total,
    success_rate: success_rate / total,
    latency: latency / total,
    price_efficiency: price_efficiency / total,
    capability_match: capability_match / total,
    availability: availability / total,
  };
}
