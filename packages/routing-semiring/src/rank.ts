import { type Assessment, assess, compareAssessments } from "./assess.ts";
import type { Candidate } from "./candidate.ts";
import { draw, explores, shiftWeights } from "./explore.ts";
import { firstOf } from "./first-of.ts";
import type { Graph } from "./graph.ts";
import { type Routes, routesFrom } from "./routes.ts";
import { DEFAULT_WEIGHTS, normaliseWeights, type SubScores, unit, type Weights } from "./score.ts";
import { ascending } from "./semiring.ts";

/** The version of the rules below; the same inputs under the same version give the same choice. */
export const ALGORITHM = "agent-routing@1";

const SELF = "self";

export interface RankOptions {
  readonly graph?: Graph;
  /** The graph's id of the asking agent; it is shown as "self" and is never chosen. */
  readonly from?: string;
  readonly requiredCapabilities?: readonly string[];
  /** In currency units. */
  readonly maxBudget?: number | null;
  /** 0..1; other values are clamped. */
  readonly explorationDrive?: number;
  /** 0..2^32 - 1, fresh for each decision; only exploration draws on it. */
  readonly seed?: number;
  readonly weights?: Weights;
  /** How many candidates to list; the choice does not depend on it. */
  readonly limit?: number;
}

export interface RankedCandidate {
  readonly agent_id: string;
  readonly composite_score: number;
  readonly sub_scores: SubScores;
  /** The ids of the route, beginning with "self". */
  readonly path: string[];
  readonly hops: number;
  /** Price and route together, in currency units; null when the price is no valid number. */
  readonly cost: number | null;
  readonly affordable: boolean;
  /** Whether it may be chosen: affordable, capable, not blocked, not the asking agent. */
  readonly eligible: boolean;
}

/** The `routing_choice` of the specification ("Task routing choice"). */
export interface RoutingChoice {
  readonly selected_agent: string;
  readonly composite_score: number;
  readonly sub_scores: {
    readonly trust: number;
    readonly cost: number;
    readonly latency: number;
    readonly reliability: number;
  };
  readonly routing_paths: string[][];
  readonly alternatives_considered: number;
}

export interface Ranking {
  /** Best first, whether or not they may be chosen. */
  readonly ranked: RankedCandidate[];
  readonly choice: RoutingChoice | null;
  readonly explored: boolean;
  readonly seed: number;
  readonly algorithm: typeof ALGORITHM;
}

/**
 * Scores candidates by the six factors and chooses one of them ("Market", "Task routing choice").
 *
 * A candidate that is blocked, lacks a required capability or has no valid price scores 0; neither it
 * nor one above `maxBudget` is ever chosen. Ties: fewer hops, lower cost, then agent id. With an
 * exploration drive the weights shift, and with the probability of the drive the choice is drawn
 * evenly from all that may be chosen; the draw follows from `seed` and the agent ids, not from the
 * order of the candidates. Weights that are negative, not finite or all 0 throw a RangeError.
 */
export const rank = (candidates: readonly Candidate[], options: RankOptions = {}): Ranking => {
  const { graph, from = SELF, requiredCapabilities = [], maxBudget = null } = options;
  const { weights = DEFAULT_WEIGHTS, limit = Infinity } = options;
  const drive = unit(options.explorationDrive ?? 0);
  const seed = (options.seed ?? 0) >>> 0;

  const routes = graph === undefined ? null : routesFrom(graph, from);
  const demand = { from, requiredCapabilities, maxBudget };
  const shifted = shiftWeights(normaliseWeights(weights), drive);
  const assessed = assess(candidates, routes, demand, shifted);

  const eligible = assessed.filter((each) => each.eligible);
  const explored = explores(seed, drive);
  const winner = explored ? drawOne(eligible, seed) : firstOf(eligible, 1, compareAssessments)[0];
  return {
    ranked: firstOf(assessed, limit, compareAssessments).map((each) => toRow(each, routes)),
    choice: winner === undefined ? null : toChoice(winner, routes, eligible.length - 1),
    explored,
    seed,
    algorithm: ALGORITHM,
  };
};

const drawOne = (eligible: readonly Assessment[], seed: number): Assessment | undefined =>
  firstOf(
    eligible.map((each) => ({ each, lot: draw(seed, each.candidate.agent_id) })),
    1,
    (a, b) => ascending(a.lot, b.lot) || compareAssessments(a.each, b.each),
  )[0]?.each;

const pathOf = ({ candidate, route }: Assessment, routes: Routes | null): string[] => {
  const [, ...others] = (route && routes?.path(candidate.agent_id)) ?? [SELF, candidate.agent_id];
  return [SELF, ...others];
};

const toRow = (each: Assessment, routes: Routes | null): RankedCandidate => ({
  agent_id: each.candidate.agent_id,
  composite_score: each.composite,
  sub_scores: each.scores,
  path: pathOf(each, routes),
  hops: each.hops,
  cost: each.cost === Infinity ? null : each.cost,
  affordable: each.affordable,
  eligible: each.eligible,
});

const toChoice = (
  winner: Assessment,
  routes: Routes | null,
  alternatives: number,
): RoutingChoice => ({
  selected_agent: winner.candidate.agent_id,
  composite_score: winner.composite,
  sub_scores: {
    trust: winner.scores.trust,
    cost: winner.scores.price_efficiency,
    latency: winner.scores.latency,
    reliability: winner.scores.success_rate,
  },
  routing_paths: [pathOf(winner, routes)],
  alternatives_considered: alternatives,
});
