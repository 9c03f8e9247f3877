import type { Candidate } from "./ranking/candidate.ts";
import { type Edge, Graph } from "./graph/graph.ts";
import {
  getAlgorithm,
  decideRanking,
  rank,
  type Ranking,
  buildRanking,
  type RankOptions,
  type RoutingChoice,
} from "./ranking/rank.ts";
import { DEFAULT_WEIGHTS, type Weights } from "./weights.ts";

/** The inputs and the choice of a decision as JSON, from which it can be replayed. */
export interface RoutingRecord {
  /** The result of `getAlgorithm` for the price cap in the deciding version. */
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
  /** All candidates as they were known at the decision. */
  readonly candidates: readonly Candidate[];
  /** The hops of the routes to candidates; other hops do not affect the decision. */
  readonly graph: readonly Edge[];
  readonly choice: RoutingChoice | null;
}

/** Ranks like `rank` and returns the record of the decision. */
export function rankAndRecord(
  candidates: readonly Candidate[],
  options: RankOptions = {},
): { readonly ranking: Ranking; readonly record: RoutingRecord } {
  const decision = decideRanking(candidates, options);
  const ranking = buildRanking(decision, options);
  const priceCap = options.priceCap ?? null;
  const record = {
    algorithm: getAlgorithm(priceCap),
    seed: decision.seed,
    weights: options.weights ?? DEFAULT_WEIGHTS,
    exploration_drive: options.explorationDrive ?? 0,
    from: options.from ?? "self",
    required_capabilities: options.requiredCapabilities ?? [],
    max_budget: options.maxBudget ?? null,
    ...(priceCap !== null && { price_cap: priceCap }),
    candidates,
    graph: options.graph === undefined ? [] : listUsedEdges(options.graph, decision),
    choice: ranking.choice,
  };
  return { ranking, record };
}

/** Lists the hops of all routes, which form a tree, so that they alone give the same routes. */
function listUsedEdges(
  graph: Graph,
  { candidateScores, indexes }: ReturnType<typeof decideRanking>,
): Edge[] {
  const used = new Map<string, Edge>();
  for (const place of indexes) {
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
 * Replays a recorded decision from its inputs alone and returns its choice, independently of the recorded
 * one. Throws a RangeError for a record of another `algorithm` or with an invalid graph.
 */
export function replayRanking(record: RoutingRecord): RoutingChoice | null {
  const algorithm = getAlgorithm(record.price_cap);
  if (record.algorithm !== algorithm) {
    throw new RangeError(`algorithm must be ${algorithm}`);
  }
  const built = Graph.from(record.graph);
  if (!built.ok) throw new RangeError(`${built.code}: ${built.detail}`);
  const { choice } = rank(record.candidates, {
    graph: built.graph,
    from: record.from,
    requiredCapabilities: record.required_capabilities,
    maxBudget: record.max_budget,
    priceCap: record.price_cap ?? null,
    explorationDrive: record.exploration_drive,
    seed: record.seed,
    weights: record.weights,
    limit: 0,
  });
  return choice;
}
