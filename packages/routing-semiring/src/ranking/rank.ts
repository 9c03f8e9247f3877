import type { Candidate } from "./candidate.ts";
import { drawRandom, shouldExplore, shiftWeights } from "./explore.ts";
import { selectTop } from "./select-top.ts";
import type { Graph } from "../graph/graph.ts";
import { findRoutes } from "../graph/routes.ts";
import { clampToUnit } from "./score.ts";
import { compareNumbers } from "../semiring.ts";
import { CandidateScores } from "./candidate-scores.ts";
import { DEFAULT_WEIGHTS, normalizeWeights, type SubScores, type Weights } from "../weights.ts";

const UNCAPPED_ALGORITHM = "agent-routing@1";
const CAPPED_ALGORITHM = "agent-routing@2";

/**
 * Returns the version of the rules below; equal inputs and versions give equal choices. A price cap needs
 * the second version, so that a verifier of the first one does not verify such a choice.
 */
export function getAlgorithm(priceCap: number | null | undefined): string {
  return (priceCap ?? null) === null ? UNCAPPED_ALGORITHM : CAPPED_ALGORITHM;
}

const SELF = "self";

export interface RankOptions {
  readonly graph?: Graph;
  /** The id of the asking agent in the graph; it is shown as "self" and is never chosen. */
  readonly from?: string;
  /** Ids that no route passes, because the asking agent does not trust them. */
  readonly avoided?: Iterable<string>;
  readonly requiredCapabilities?: readonly string[];
  /** The maximum cost of a choice, in currency units; price efficiency is measured by it. */
  readonly maxBudget?: number | null;
  /** The maximum cost of a choice, in currency units, without effect on scores and order. */
  readonly priceCap?: number | null;
  /** 0..1; other values are clamped. */
  readonly explorationDrive?: number;
  /** From 0 to 2^32 - 1, new for each decision; only exploration uses it. */
  readonly seed?: number;
  readonly weights?: Weights;
  /** The number of candidates to list; the choice does not depend on it. */
  readonly limit?: number;
  /** Whether to list only candidates that may be chosen. */
  readonly onlyEligible?: boolean;
}

export interface RankedCandidate {
  readonly agent_id: string;
  readonly composite_score: number;
  readonly sub_scores: SubScores;
  /** The ids of the route, beginning with "self". */
  readonly path: string[];
  readonly hops: number;
  /** The cost of price and route, in currency units; null without a valid price. */
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
  /** All candidates, best first; only eligible ones with `onlyEligible`. */
  readonly ranked: RankedCandidate[];
  readonly choice: RoutingChoice | null;
  readonly explored: boolean;
  readonly seed: number;
  readonly algorithm: string;
}

/**
 * Scores candidates by the six factors and chooses one of them (specification, "Market" and "Task routing
 * choice").
 *
 * A candidate that is blocked, lacks a required capability or has no valid price scores 0; neither it
 * nor one above `maxBudget` or `priceCap` is ever chosen. Ties: fewer hops, lower cost, then agent id.
 * With an exploration drive the weights shift, and with the probability of the drive the choice is drawn
 * uniformly from all eligible candidates; the draw depends on `seed` and the agent ids, not on the order
 * of the candidates. Throws a RangeError for weights that are negative, not finite or all 0.
 */
export function rank(candidates: readonly Candidate[], options: RankOptions = {}): Ranking {
  return buildRanking(decideRanking(candidates, options), options);
}

/** A decision with its scores, before it is converted to a ranking. */
export interface RankingDecision {
  readonly candidateScores: CandidateScores;
  readonly indexes: readonly number[];
  readonly eligible: readonly number[];
  /** The index of the chosen candidate. */
  readonly winner: number | undefined;
  readonly explored: boolean;
  readonly seed: number;
}

export function decideRanking(
  candidates: readonly Candidate[],
  options: RankOptions,
): RankingDecision {
  const { graph, from = SELF, requiredCapabilities = [] } = options;
  const { maxBudget = null, priceCap = null } = options;
  const { weights = DEFAULT_WEIGHTS } = options;
  const drive = clampToUnit(options.explorationDrive ?? 0);
  const seed = (options.seed ?? 0) >>> 0;

  const candidateScores = new CandidateScores(
    candidates,
    graph === undefined ? null : findRoutes(graph, from, options.avoided),
    { from, requiredCapabilities, maxBudget, priceCap },
    shiftWeights(normalizeWeights(weights), drive),
  );
  const indexes = [...candidates.keys()];
  const eligible = indexes.filter((place) => candidateScores.isEligible(place));
  const explored = shouldExplore(seed, drive);
  const winner = explored
    ? drawCandidate(eligible, candidateScores, seed)
    : selectTop(eligible, 1, (a, b) => candidateScores.compare(a, b))[0];
  return { candidateScores, indexes, eligible, winner, explored, seed };
}

export function buildRanking(
  { candidateScores, indexes, eligible, winner, explored, seed }: RankingDecision,
  { limit = Infinity, onlyEligible = false, priceCap }: RankOptions,
): Ranking {
  const byRank = (a: number, b: number) => candidateScores.compare(a, b);
  return {
    ranked: selectTop(onlyEligible ? eligible : indexes, limit, byRank).map((place) =>
      toRankedCandidate(candidateScores, place),
    ),
    choice:
      winner === undefined ? null : toRoutingChoice(candidateScores, winner, eligible.length - 1),
    explored,
    seed,
    algorithm: getAlgorithm(priceCap),
  };
}

function drawCandidate(
  eligible: readonly number[],
  candidateScores: CandidateScores,
  seed: number,
): number | undefined {
  const draws = eligible.map((place) => ({
    place,
    lot: drawRandom(seed, candidateScores.candidate(place).agent_id),
  }));
  const [first] = selectTop(
    draws,
    1,
    (a, b) => compareNumbers(a.lot, b.lot) || candidateScores.compare(a.place, b.place),
  );
  return first?.place;
}

function toRankedCandidate(candidateScores: CandidateScores, place: number): RankedCandidate {
  const cost = candidateScores.cost(place);
  return {
    agent_id: candidateScores.candidate(place).agent_id,
    composite_score: candidateScores.composite(place),
    sub_scores: candidateScores.scores(place),
    path: buildDisplayPath(candidateScores, place),
    hops: candidateScores.hops(place),
    cost: cost === Infinity ? null : cost,
    affordable: candidateScores.isAffordable(place),
    eligible: candidateScores.isEligible(place),
  };
}

function toRoutingChoice(
  candidateScores: CandidateScores,
  place: number,
  alternatives: number,
): RoutingChoice {
  const scores = candidateScores.scores(place);
  return {
    selected_agent: candidateScores.candidate(place).agent_id,
    composite_score: candidateScores.composite(place),
    sub_scores: {
      trust: scores.trust,
      cost: scores.price_efficiency,
      latency: scores.latency,
      reliability: scores.success_rate,
    },
    routing_paths: [buildDisplayPath(candidateScores, place)],
    alternatives_considered: alternatives,
  };
}

function buildDisplayPath(candidateScores: CandidateScores, place: number): string[] {
  return candidateScores.path(place).with(0, SELF);
}
