import { findRules, getAlgorithm } from "./ranking/algorithm.ts";
import type { Candidate, FixedRoute } from "./ranking/candidate.ts";
import { type Edge, Graph } from "./graph/graph.ts";
import {
  decideInSteps,
  type Ranking,
  type RankingDecision,
  buildRanking,
  type RankOptions,
  type RoutingChoice,
} from "./ranking/rank.ts";
import { runSteps, type Steps } from "./ranking/run-steps.ts";
import { DEFAULT_WEIGHTS, type Weights } from "./weights.ts";

/** Facts about all candidates of a decision of which only the best were recorded. */
export interface RecordExcerpt {
  /** The number of all candidates. */
  readonly candidates: number;
  /** The number of those that could be chosen. */
  readonly eligible: number;
  /** The cost with which prices were compared, in currency units: a median, of earlier versions the mean. */
  readonly mean_cost: number;
  /** The hash of all candidates that the caller of `rankAndRecord` computed, 64 hex digits. */
  readonly inputs_hash: string;
}

/** The inputs and the choice of a decision as JSON, from which it can be replayed. */
export interface RoutingRecord {
  /** The version of the rules. */
  readonly algorithm: string;
  readonly seed: number;
  readonly weights: Weights;
  /** From 0 to 1. */
  readonly exploration_drive: number;
  /** The id of the asking agent in the graph. */
  readonly from: string;
  readonly required_capabilities: readonly string[];
  /** In currency units; null without a maximum. */
  readonly max_budget: number | null;
  /** In currency units; absent without a cap. */
  readonly price_cap?: number | undefined;
  /** The candidates as known at the time of the decision: all, or those that an excerpt keeps. */
  readonly candidates: readonly Candidate[];
  /** Absent if all candidates are recorded. */
  readonly excerpt?: RecordExcerpt | undefined;
  /** The hops of the routes to recorded candidates; other hops do not affect the decision. */
  readonly graph: readonly Edge[];
  readonly choice: RoutingChoice | null;
}

/** The maximum number of candidates that a record contains in full. */
export const MAX_RECORDED_CANDIDATES = 1_000;

/** The number of best candidates that an excerpt keeps. */
const EXCERPT_CANDIDATES = 100;

/** Options of `rankAndRecord`. */
export interface RecordOptions extends RankOptions {
  /**
   * Hashes all candidates (64 hex digits) if there are too many to record. Without this function all are
   * recorded.
   */
  readonly hashInputs?: () => string;
}

interface RecordedRanking {
  readonly ranking: Ranking;
  readonly record: RoutingRecord;
}

/** Ranks like `rank` and returns the record of the decision. */
export function rankAndRecord(
  candidates: readonly Candidate[],
  options: RecordOptions = {},
): RecordedRanking {
  return runSteps(rankAndRecordInSteps(candidates, options));
}

/**
 * Ranks and records like `rankAndRecord`, in the steps of `rankInSteps`. With `hashInputs`, the record of a
 * decision among more than 1000 candidates contains only the 100 best that may be chosen and the chosen
 * one, with their routes.
 */
export function* rankAndRecordInSteps(
  candidates: readonly Candidate[],
  options: RecordOptions = {},
): Steps<RecordedRanking> {
  const { hashInputs } = options;
  const isExcerpt = hashInputs !== undefined && candidates.length > MAX_RECORDED_CANDIDATES;
  const decision = yield* decideInSteps(candidates, {
    ...options,
    ...(isExcerpt && { ordered: EXCERPT_CANDIDATES }),
  });
  const ranking = buildRanking(decision, options);
  const places = isExcerpt ? listExcerpt(decision) : [...candidates.keys()];
  const { candidateScores, eligible } = decision;
  const excerpt = isExcerpt && {
    candidates: candidates.length,
    eligible,
    mean_cost: candidateScores.referenceCost,
    inputs_hash: hashInputs(),
  };
  const priceCap = options.priceCap ?? null;
  const record = {
    algorithm: getAlgorithm(isExcerpt),
    seed: decision.seed,
    weights: options.weights ?? DEFAULT_WEIGHTS,
    exploration_drive: options.explorationDrive ?? 0,
    from: options.from ?? "self",
    required_capabilities: options.requiredCapabilities ?? [],
    max_budget: options.maxBudget ?? null,
    ...(priceCap !== null && { price_cap: priceCap }),
    candidates: isExcerpt ? places.map((place) => candidateScores.candidate(place)) : candidates,
    ...(excerpt && { excerpt }),
    graph: options.graph === undefined ? [] : listUsedEdges(options.graph, decision, places),
    choice: ranking.choice,
  };
  return { ranking, record };
}

/** Lists the best candidates that may be chosen, and the chosen one, which exploration may draw. */
function listExcerpt({ candidateScores, best, winner }: RankingDecision): number[] {
  const places = best
    .filter((place) => candidateScores.isEligible(place))
    .slice(0, EXCERPT_CANDIDATES);
  return winner === undefined || places.includes(winner) ? places : [...places, winner];
}

/**
 * Lists the hops of the routes to some candidates. They form a tree, so these hops alone give the same
 * routes.
 */
function listUsedEdges(
  graph: Graph,
  { candidateScores }: RankingDecision,
  places: readonly number[],
): Edge[] {
  const used = new Map<string, Edge>();
  for (const place of places) {
    if (!candidateScores.isRouted(place)) continue;
    const path = candidateScores.path(place);
    for (let to = path.length - 1; to > 0; to -= 1) {
      // The rest of this route was added with another candidate's.
      if (used.has(path[to]!)) break;
      const [source, target] = [path[to - 1]!, path[to]!];
      used.set(target, { from: source, to: target, ...graph.getAttributes(source, target)! });
    }
  }
  return [...used.values()];
}

/**
 * Replays a recorded decision from its inputs and returns the resulting choice, independently of the
 * recorded one. In an excerpt only the recorded candidates compete, by the recorded cost and counts.
 * Throws a RangeError for a record with an unknown `algorithm`, with an invalid graph or route or with
 * impossible counts.
 */
export function replayRanking(record: RoutingRecord): RoutingChoice | null {
  return rankRecorded(record, 0).choice;
}

/**
 * Replays a recorded decision like `replayRanking`, and also lists the best `limit` recorded candidates with
 * the scores that they had in the decision.
 */
export function rankRecorded(record: RoutingRecord, limit: number): Ranking {
  const { excerpt } = record;
  const rules = findRules(record);
  if (rules === undefined) throw new RangeError(`algorithm ${record.algorithm} is unknown`);
  const built = Graph.from(record.graph);
  if (!built.ok) throw new RangeError(`${built.code}: ${built.detail}`);
  for (const { agent_id, route } of record.candidates) {
    if (route !== undefined && !isRouteValid(route)) {
      throw new RangeError(`the figures of the route to ${agent_id} are out of their ranges`);
    }
  }
  const options = {
    graph: built.graph,
    from: record.from,
    requiredCapabilities: record.required_capabilities,
    maxBudget: record.max_budget,
    priceCap: record.price_cap ?? null,
    explorationDrive: record.exploration_drive,
    seed: record.seed,
    weights: record.weights,
    limit,
    comparesWithMean: rules === "earlier",
  };
  if (excerpt === undefined) {
    return buildRanking(runSteps(decideInSteps(record.candidates, options)), options);
  }
  const recorded = record.candidates.length;
  const eligible = excerpt.eligible - recorded;
  if (!(eligible >= 0 && excerpt.eligible <= excerpt.candidates && excerpt.mean_cost >= 0)) {
    throw new RangeError("excerpt must count all candidates");
  }
  const leftOut = { eligible, referenceCost: excerpt.mean_cost };
  return buildRanking(runSteps(decideInSteps(record.candidates, { ...options, leftOut })), options);
}

/** Cost and latency are sums over all hops of a route, so they may be above the maximum of one hop. */
function isRouteValid({ trust, cost, latency, reliability }: FixedRoute): boolean {
  return (
    [trust, reliability].every((share) => share >= 0 && share <= 1) &&
    [cost, latency].every((sum) => sum >= 0 && sum < Infinity)
  );
}
