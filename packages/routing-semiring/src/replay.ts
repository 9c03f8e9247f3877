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

/** The inputs of a decision as JSON, and what it came to: enough for anybody to make it again. */
export interface RoutingRecord {
  /** `getAlgorithm` the price cap, in the version that decided. */
  readonly algorithm: string;
  readonly seed: number;
  readonly weights: Weights;
  /** 0..1 */
  readonly exploration_drive: number;
  /** The graph's id of the asking agent. */
  readonly from: string;
  readonly required_capabilities: readonly string[];
  /** In currency units; null = no limit. */
  readonly max_budget: number | null;
  /** In currency units; absent = none. */
  readonly price_cap?: number | undefined;
  /** All of them, as they were known then. */
  readonly candidates: readonly Candidate[];
  /** The hops of the routes to candidates; what no route took decided nothing. */
  readonly graph: readonly Edge[];
  readonly choice: RoutingChoice | null;
}

/** Ranks as `rank` does, and keeps what the choice was made of. */
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

/** Every hop once. The best routes from one id make a tree, so among these alone they are the same. */
function listUsedEdges(
  graph: Graph,
  { candidateScores, indexes }: ReturnType<typeof decideRanking>,
): Edge[] {
  const used = new Map<string, Edge>();
  for (const place of indexes) {
    if (!candidateScores.isRouted(place)) continue;
    const path = candidateScores.path(place);
    for (let to = path.length - 1; to > 0; to -= 1) {
      // The rest of this route was taken with another candidate's.
      if (used.has(path[to]!)) break;
      const [source, target] = [path[to - 1]!, path[to]!];
      used.set(target, { from: source, to: target, ...graph.getAttributes(source, target)! });
    }
  }
  return [...used.values()];
}

/**
 * Makes a recorded decision again, from its inputs alone; the same choice as then, whatever the record
 * says of it. A record of another `algorithm`, or whose graph is none, throws a RangeError.
 */
export function replayRanking(record: RoutingRecord): RoutingChoice | null {
  const algorithm = getAlgorithm(record.price_cap);
  if (record.algorithm !== algorithm) {
    throw new RangeError(`this is ${algorithm}, and the decision was made by another algorithm`);
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
