import type { Candidate } from "./candidate.ts";
import { drawRandom, shouldExplore, shiftWeights } from "./explore.ts";
import { runSteps, type Steps } from "./run-steps.ts";
import { TopSelection } from "./top-selection.ts";
import type { Graph } from "../graph/graph.ts";
import { Routes } from "../graph/routes.ts";
import { clampToUnit } from "./score.ts";
import { compareNumbers } from "../semiring.ts";
import { CandidateScores } from "./candidate-scores.ts";
import { DEFAULT_WEIGHTS, normalizeWeights, type SubScores, type Weights } from "../weights.ts";

const SELF = "self";

/** The requirements and preferences by which candidates are ranked. */
export interface RankOptions {
  readonly graph?: Graph;
  /** The id of the asking agent in the graph; it is shown as "self" and is never chosen. */
  readonly from?: string;
  /** The node number of each candidate in `graph` (-1 for none), if the caller knows them. */
  readonly nodes?: ArrayLike<number>;
  /** The search in `graph` from `from` without `avoided`, if the caller has one; it need not be complete. */
  readonly routes?: Routes;
  /** Ids that no route passes, because the asking agent does not trust them. */
  readonly avoided?: Iterable<string>;
  readonly requiredCapabilities?: readonly string[];
  /** The maximum cost of a choice, in currency units; the price efficiency is relative to it. */
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

/** A candidate with its score from 0 to 1 and its route. */
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

/** The ranking of all candidates and the choice among them. */
export interface Ranking {
  /** All candidates, best first; only eligible ones with `onlyEligible`. */
  readonly ranked: RankedCandidate[];
  readonly choice: RoutingChoice | null;
  readonly explored: boolean;
  readonly seed: number;
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
  return runSteps(rankInSteps(candidates, options));
}

/**
 * Ranks like `rank` in steps of one or two milliseconds, between which a server can do other work. Candidates
 * and graph must not change before the last step. Sorting for a `limit` of many is one step.
 */
export function* rankInSteps(
  candidates: readonly Candidate[],
  options: RankOptions = {},
): Steps<Ranking> {
  return buildRanking(yield* decideInSteps(candidates, options), options);
}

/** The rank of one candidate. */
export interface RankOfCandidate {
  /** Counted from 1; null if the agent is not a candidate. */
  readonly rank: number | null;
  /** The number of candidates. */
  readonly of: number;
  readonly own: RankedCandidate | undefined;
}

/** Finds the rank of an agent among all candidates, in the steps of `rankInSteps` and without sorting. */
export function* findRankInSteps(
  candidates: readonly Candidate[],
  agentId: string,
  options: RankOptions = {},
): Steps<RankOfCandidate> {
  const { candidateScores } = yield* decideInSteps(candidates, { ...options, limit: 0 });
  const own = candidates.findIndex(({ agent_id }) => agent_id === agentId);
  if (own === -1) return { rank: null, of: candidates.length, own: undefined };
  let rank = 1;
  for (let place = 0; place < candidates.length; place += 1) {
    if (place % CANDIDATES_PER_STEP === CANDIDATES_PER_STEP - 1) yield;
    if (place !== own && candidateScores.compare(place, own) < 0) rank += 1;
  }
  return { rank, of: candidates.length, own: toRankedCandidate(candidateScores, own) };
}

/** Facts about the candidates that an excerpt leaves out. */
export interface LeftOut {
  /** The number of left-out candidates that may be chosen. */
  readonly eligible: number;
  /** The cost with which the costs of all candidates were compared, in currency units. */
  readonly referenceCost: number;
}

/** Options of a decision that records or replays. */
export interface DecisionOptions extends RankOptions {
  /** The number of candidates that must be in order, if it is more than `limit`. */
  readonly ordered?: number;
  readonly leftOut?: LeftOut;
  /** Whether prices are compared with the mean cost of all candidates, as by earlier versions of the rules. */
  readonly comparesWithMean?: boolean;
}

/** A decision with its scores, before it is converted to a ranking. */
export interface RankingDecision {
  readonly candidateScores: CandidateScores;
  /** The indexes of the best candidates, best first: at least as many as `limit`. */
  readonly best: readonly number[];
  /** The number of candidates that may be chosen. */
  readonly eligible: number;
  /** The index of the chosen candidate. */
  readonly winner: number | undefined;
  readonly explored: boolean;
  readonly seed: number;
}

/** The number of graph nodes or candidates that one step processes. */
const NODES_PER_STEP = 4_096;
const CANDIDATES_PER_STEP = 4_096;

export function* decideInSteps(
  candidates: readonly Candidate[],
  options: DecisionOptions,
): Steps<RankingDecision> {
  const { graph, from = SELF, requiredCapabilities = [], limit = Infinity, leftOut } = options;
  const { maxBudget = null, priceCap = null, onlyEligible = false, ordered = 0 } = options;
  const { weights = DEFAULT_WEIGHTS } = options;
  const drive = clampToUnit(options.explorationDrive ?? 0);
  const seed = (options.seed ?? 0) >>> 0;

  const routes =
    options.routes ?? (graph === undefined ? null : new Routes(graph, from, options.avoided));
  const shifted = shiftWeights(normalizeWeights(weights), drive);
  while (routes?.search(NODES_PER_STEP) === false) yield;
  const candidateScores = new CandidateScores(
    candidates,
    routes,
    { from, requiredCapabilities: new Set(requiredCapabilities), maxBudget, priceCap },
    shifted,
    {
      nodes: options.nodes,
      referenceCost: leftOut?.referenceCost,
      comparesWithMean: options.comparesWithMean,
    },
  );
  for (let at = 0; at < candidates.length; at += CANDIDATES_PER_STEP) {
    if (at > 0) yield;
    candidateScores.scoreAllButPrice(at, at + CANDIDATES_PER_STEP);
  }
  for (let at = 0; at < candidates.length; at += CANDIDATES_PER_STEP) {
    if (at > 0) yield;
    candidateScores.scorePrice(at, at + CANDIDATES_PER_STEP);
  }
  const explored = shouldExplore(seed, drive);
  const byRank = (a: number, b: number) => candidateScores.compare(a, b);
  const best = new TopSelection(Math.max(limit, ordered), byRank);
  const byLot = createLotOrder(candidateScores, seed);
  const first = new TopSelection(1, explored ? byLot : byRank);
  let eligible = leftOut?.eligible ?? 0;
  for (let place = 0; place < candidates.length; place += 1) {
    if (place % CANDIDATES_PER_STEP === CANDIDATES_PER_STEP - 1) yield;
    const isEligible = candidateScores.isEligible(place);
    if (isEligible || !onlyEligible) best.add(place);
    if (!isEligible) continue;
    eligible += 1;
    first.add(place);
  }
  const [winner] = first.list();
  return { candidateScores, best: best.list(), eligible, winner, explored, seed };
}

export function buildRanking(
  { candidateScores, best, eligible, winner, explored, seed }: RankingDecision,
  { limit = Infinity }: RankOptions,
): Ranking {
  return {
    ranked: best
      .slice(0, Math.max(0, limit))
      .map((place) => toRankedCandidate(candidateScores, place)),
    choice: winner === undefined ? null : toRoutingChoice(candidateScores, winner, eligible - 1),
    explored,
    seed,
  };
}

/** Returns the order of an exploration's draw: by drawn number, and by rank if the numbers are equal. */
function createLotOrder(
  candidateScores: CandidateScores,
  seed: number,
): (a: number, b: number) => number {
  const lots = new Map<number, number>();
  const lotOf = (place: number) => {
    const known = lots.get(place);
    if (known !== undefined) return known;
    const lot = drawRandom(seed, candidateScores.candidate(place).agent_id);
    lots.set(place, lot);
    return lot;
  };
  return (a, b) => compareNumbers(lotOf(a), lotOf(b)) || candidateScores.compare(a, b);
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
