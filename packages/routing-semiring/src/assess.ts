import type { Candidate } from "./candidate.ts";
import type { Routes } from "./routes.ts";
import {
  compositeScore,
  isCapable,
  subScores,
  type SubScores,
  totalCost,
  type Weights,
} from "./score.ts";
import { ascending, type RouteFigures, sumKey } from "./semiring.ts";

/** What a task asks for. */
export interface Demand {
  /** The asking agent, which is no candidate for its own task. */
  readonly from: string;
  readonly requiredCapabilities: readonly string[];
  readonly maxBudget: number | null;
}

/** A candidate with its route, its scores and whether it may be chosen. */
export interface Assessment {
  readonly candidate: Candidate;
  /** Null: not reached through the graph. */
  readonly route: RouteFigures | null;
  readonly hops: number;
  readonly cost: number;
  readonly scores: SubScores;
  readonly composite: number;
  readonly affordable: boolean;
  readonly eligible: boolean;
}

interface Prospect {
  readonly candidate: Candidate;
  readonly route: RouteFigures | null;
  readonly cost: number;
  readonly capable: boolean;
  /** Scores 0. */
  readonly excluded: boolean;
}

/** Scores every candidate; those that break a zero rule are kept, with a score of 0. */
export const assess = (
  candidates: readonly Candidate[],
  routes: Routes | null,
  demand: Demand,
  weights: Weights,
): Assessment[] => {
  const prospects = candidates.map((candidate) => look(candidate, routes, demand));
  const yardstick = { maxBudget: demand.maxBudget, meanCost: meanCost(prospects) };
  return prospects.map(({ candidate, route, cost, capable, excluded }) => {
    const scores = subScores(candidate, { route, cost, capable }, yardstick);
    const affordable = cost < Infinity && isWithin(cost, demand.maxBudget);
    return {
      candidate,
      route,
      hops: route?.hops ?? 1,
      cost,
      scores,
      composite: excluded ? 0 : compositeScore(scores, weights),
      affordable,
      eligible: affordable && !excluded && candidate.agent_id !== demand.from,
    };
  });
};

/** The order of ranks: higher score, then fewer hops, lower cost, smaller agent id. */
export const compareAssessments = (a: Assessment, b: Assessment): number =>
  ascending(b.composite, a.composite) ||
  ascending(a.hops, b.hops) ||
  ascending(sumKey(a.cost), sumKey(b.cost)) ||
  (a.candidate.agent_id < b.candidate.agent_id ? -1 : 1);

const look = (candidate: Candidate, routes: Routes | null, demand: Demand): Prospect => {
  const found = routes?.figures(candidate.agent_id) ?? null;
  const route = found?.hops === 0 ? null : found;
  const cost = totalCost(candidate, route);
  const capable = isCapable(candidate, demand.requiredCapabilities);
  return {
    candidate,
    route,
    cost,
    capable,
    excluded: candidate.blocked || !capable || cost === Infinity,
  };
};

// Summed in micro-units, so that the mean does not depend on the order of the candidates.
const meanCost = (prospects: readonly Prospect[]): number => {
  let sum = 0;
  let count = 0;
  for (const { cost, excluded } of prospects) {
    if (excluded) continue;
    sum += sumKey(cost);
    count += 1;
  }
  return count === 0 ? 0 : sum / count / 1e6;
};

const isWithin = (cost: number, budget: number | null): boolean =>
  budget === null || sumKey(cost) <= sumKey(budget);
