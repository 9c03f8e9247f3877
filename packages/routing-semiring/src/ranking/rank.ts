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
 * The version of the rules below; the same inputs under the same version give the same choice. A price
 * cap came with the second version: a verifier that only knows the first must not judge such a choice.
 */
export function getAlgorithm(priceCap: number | null | undefined): string {
  return (priceCap ?? null) === null ? UNCAPPED_ALGORITHM : CAPPED_ALGORITHM;
}

const SELF = "self";

export interface RankOptions {
  readonly graph?: Graph;
  /** The graph's id of the asking agent; it is shown as "self" and is never chosen. */
  readonly from?: string;
  /** Ids whose word is worth nothing to the asking agent: no route passes them. */
  readonly avoided?: Iterable<string>;
  readonly requiredCapabilities?: readonly string[];
  /** In currency units: what price efficiency is measured by, and the most that a choice may cost. */
  readonly maxBudget?: number | null;
  /** In currency units: the most that a choice may cost. It changes no score and no order. */
  readonly priceCap?: number | null;
  /** 0..1; other values are clamped. */
  readonly explorationDrive?: number;
  /** 0..2^32 - 1, fresh for each decision; only exploration draws on it. */
  readonly seed?: number;
  readonly weights?: Weights;
  /** How many candidates to list; the choice does not depend on it. */
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
  /** Best first; whether or not they may be chosen, unless only those were asked for. */
  readonly ranked: RankedCandidate[];
  readonly choice: RoutingChoice | null;
  readonly explored: boolean;
  readonly seed: number;
  readonly algorithm: string;
}

/**
 * Scores candidates by the six factors and chooses one of them ("Market", "Task routing choice").
 *
 * A candidate that is blocked, lacks a required capability or has no valid price scores 0; neither it
 * nor one above `maxBudget` or `priceCap` is ever chosen. Ties: fewer hops, lower cost, then agent id. With an
 * exploration drive the weights shift, and with the probability of the drive the choice is drawn
 * evenly from all that may be chosen; the draw follows from `seed` and the agent ids, not from the
 * order of the candidates. Weights that are negative, not finite or all 0 throw a RangeError.
 */
export function rank(candidates: readonly Candidate[], options: RankOptions = {}): Ranking {
  return buildRanking(decideRanking(candidates, options), options);
}

/** A decision with all that it was made of, before anything of it is shown. */
export interface RankingDecision {
  readonly candidateScores: CandidateScores;
  readonly indexes: readonly number[];
  readonly eligible: readonly number[];
  /** The place of the chosen candidate. */
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
