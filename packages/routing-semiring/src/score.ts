import type { Candidate } from "./candidate.ts";
import type { RouteFigures } from "./semiring.ts";

/** The six factors of a candidate's score, each 0..1, higher is better. */
export interface SubScores {
  readonly trust: number;
  readonly success_rate: number;
  readonly latency: number;
  readonly price_efficiency: number;
  readonly capability_match: number;
  readonly availability: number;
}

/** How much each factor counts; only the proportions matter. */
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

/** The latency, in ms, that scores one half; also what is assumed where nothing is known. */
export const LATENCY_HALF_MS = 5000;

const MAX_PRICE = 1e9;
const UNKNOWN_SUCCESS_RATE = 0.5;
const OFFLINE_FACTOR = 0.5;

/** How a candidate is reached, what it then costs, and whether it can do the task at all. */
export interface Reach {
  /** Null: directly, not through the graph. */
  readonly route: RouteFigures | null;
  readonly cost: number;
  readonly capable: boolean;
}

/** What a cost is measured against, in currency units: the budget, else the candidates' mean cost. */
export interface Yardstick {
  readonly maxBudget: number | null;
  readonly meanCost: number;
}

/** Clamps to 0..1; NaN becomes 0. */
export const unit = (value: number): number => (value >= 0 ? Math.min(value, 1) : 0);

/** Whether the candidate has every capability that is asked for. */
export const isCapable = (candidate: Candidate, required: readonly string[]): boolean =>
  required.every((capability) => candidate.capabilities.includes(capability));

/** The price of a candidate plus the cost of the route to it; Infinity when its price is none. */
export const totalCost = (candidate: Candidate, route: RouteFigures | null): number => {
  const price = candidate.unit_cost ?? 0;
  return price >= 0 && price <= MAX_PRICE ? price + (route?.cost ?? 0) : Infinity;
};

/**
 * The six factors of a candidate. The route's trust takes the place of the candidate's own, its cost
 * and latency add to the candidate's, its reliability multiplies the success rate.
 */
export const subScores = (candidate: Candidate, reach: Reach, yardstick: Yardstick): SubScores => ({
  trust: candidate.blocked ? 0 : unit(reach.route?.trust ?? candidate.trust_score),
  success_rate: successRate(candidate) * (reach.route?.reliability ?? 1),
  latency: LATENCY_HALF_MS / (LATENCY_HALF_MS + totalLatency(candidate, reach.route)),
  price_efficiency: priceEfficiency(reach.cost, yardstick),
  capability_match: reach.capable ? 1 : 0,
  availability: availability(candidate),
});

/** The weighted sum of the factors, 0..1, to 12 decimals so that equal scores come out equal. */
export const compositeScore = (scores: SubScores, weights: Weights): number =>
  unit(Math.round(weightedSum(scores, weights) * 1e12) / 1e12);

/** The weights in proportion, summing to 1; a negative or non-finite weight, or all 0, throws. */
export const normaliseWeights = (weights: Weights): Weights => {
  const total = weightedSum(EVERYTHING, weights);
  const smallest = Math.min(...Object.values<number>({ ...weights }));
  if (!(smallest >= 0 && total > 0 && total < Infinity)) {
    throw new RangeError("weights must be finite, not negative, and not all 0");
  }
  return {
    trust: weights.trust / total,
    success_rate: weights.success_rate / total,
    latency: weights.latency / total,
    price_efficiency: weights.price_efficiency / total,
    capability_match: weights.capability_match / total,
    availability: weights.availability / total,
  };
};

const EVERYTHING: SubScores = {
  trust: 1,
  success_rate: 1,
  latency: 1,
  price_efficiency: 1,
  capability_match: 1,
  availability: 1,
};

const weightedSum = (scores: SubScores, weights: Weights): number =>
  scores.trust * weights.trust +
  scores.success_rate * weights.success_rate +
  scores.latency * weights.latency +
  scores.price_efficiency * weights.price_efficiency +
  scores.capability_match * weights.capability_match +
  scores.availability * weights.availability;

const totalLatency = (candidate: Candidate, route: RouteFigures | null): number =>
  (known(candidate.avg_latency_ms) ?? known(candidate.listing_latency_ms) ?? LATENCY_HALF_MS) +
  (route?.latency ?? 0);

const known = (value: number | null): number | null =>
  value !== null && value >= 0 && value < Infinity ? value : null;

const successRate = ({ successes, counted }: Candidate): number =>
  counted > 0 ? unit(successes / counted) : UNKNOWN_SUCCESS_RATE;

const availability = ({ online, availability_guarantee: promised }: Candidate): number =>
  online ? 1 : unit(promised ?? 0) * OFFLINE_FACTOR;

const priceEfficiency = (cost: number, { maxBudget, meanCost }: Yardstick): number => {
  if (cost === 0) return 1;
  return unit(maxBudget === null ? meanCost / (cost + meanCost) : 1 - cost / maxBudget);
};
