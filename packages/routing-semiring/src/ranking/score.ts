import type { Candidate } from "./candidate.ts";
import type { RouteAttributes } from "../semiring.ts";
import type { SubScores, Weights } from "../weights.ts";

/** The latency in ms whose score is one half; an unknown latency counts as this one. */
export const HALF_SCORE_LATENCY_MS = 5000;

const MAX_PRICE = 1e9;
export const DEFAULT_SUCCESS_RATE = 0.5;
const OFFLINE_FACTOR = 0.5;

/** Clamps to 0..1; NaN becomes 0. */
export function clampToUnit(value: number): number {
  return value >= 0 ? Math.min(value, 1) : 0;
}

/** Up to this number, scanning the list for each capability is faster than building a set. */
const FEW_CAPABILITIES = 8;

/** Returns whether the candidate has every required capability. */
export function isCapable({ capabilities }: Candidate, required: ReadonlySet<string>): boolean {
  const offered = required.size > FEW_CAPABILITIES ? new Set(capabilities) : undefined;
  for (const capability of required) {
    if (!(offered?.has(capability) ?? capabilities.includes(capability))) return false;
  }
  return true;
}

/** Computes the price of a candidate plus the cost of its route; Infinity without a valid price. */
export function computeTotalCost(candidate: Candidate, route: RouteAttributes | null): number {
  const price = candidate.unit_cost ?? 0;
  return price >= 0 && price <= MAX_PRICE ? price + (route?.cost ?? 0) : Infinity;
}

/**
 * Computes the price efficiency: 1 if the task is free, otherwise the share of the budget that is left or,
 * without a budget, the share of `referenceCost` in the sum of both costs. All costs are in currency units.
 */
export function computePriceEfficiency(
  cost: number,
  maxBudget: number | null,
  referenceCost: number,
): number {
  if (cost === 0) return 1;
  return clampToUnit(
    maxBudget === null ? referenceCost / (cost + referenceCost) : 1 - cost / maxBudget,
  );
}

/**
 * Computes the factors of a candidate that is reached by `route` (null: directly). The route's trust
 * replaces the candidate's own, its latency is added, its reliability multiplies the success rate.
 */
export function computeSubScores(
  candidate: Candidate,
  route: RouteAttributes | null,
  capable: boolean,
  price: number,
): SubScores {
  return {
    trust: computeTrust(candidate, route),
    success_rate: computeSuccessRate(candidate, route),
    latency: computeLatency(candidate, route),
    price_efficiency: price,
    capability_match: capable ? 1 : 0,
    availability: computeAvailability(candidate),
  };
}

/**
 * Computes the weighted sum of the factors of a capable candidate without the price. It creates no
 * objects, because a server computes it for each of many candidates.
 */
export function computeSumWithoutPrice(
  candidate: Candidate,
  route: RouteAttributes | null,
  weights: Weights,
): number {
  return (
    computeTrust(candidate, route) * weights.trust +
    computeSuccessRate(candidate, route) * weights.success_rate +
    computeLatency(candidate, route) * weights.latency +
    weights.capability_match +
    computeAvailability(candidate) * weights.availability
  );
}

/** Computes the trust in a candidate: that of its route, otherwise its own. */
export function computeTrust(
  { blocked, trust_score }: Candidate,
  route: RouteAttributes | null,
): number {
  return blocked ? 0 : clampToUnit(route?.trust ?? trust_score);
}

function computeLatency(candidate: Candidate, route: RouteAttributes | null): number {
  const own =
    finiteOrNull(candidate.avg_latency_ms) ??
    finiteOrNull(candidate.listing_latency_ms) ??
    HALF_SCORE_LATENCY_MS;
  const total = own + (route?.latency ?? 0);
  return HALF_SCORE_LATENCY_MS / (HALF_SCORE_LATENCY_MS + total);
}

function finiteOrNull(value: number | null): number | null {
  return value !== null && value >= 0 && value < Infinity ? value : null;
}

function computeSuccessRate(
  { successes, counted }: Candidate,
  route: RouteAttributes | null,
): number {
  const own = counted > 0 ? clampToUnit(successes / counted) : DEFAULT_SUCCESS_RATE;
  return own * (route?.reliability ?? 1);
}

function computeAvailability({ online, availability_guarantee: promised }: Candidate): number {
  return online ? 1 : clampToUnit(promised ?? 0) * OFFLINE_FACTOR;
}
