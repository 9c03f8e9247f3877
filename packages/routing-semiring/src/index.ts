export type { Candidate, FixedRoute } from "./ranking/candidate.ts";
export { findBestPath, type BestPath } from "./graph/best-paths.ts";
export { checkTargetEligibility, type TargetRefusal } from "./ranking/eligibility.ts";
export { getCountedStatus, type EndedTask } from "./ranking/get-counted-status.ts";
export { drawRandom, shouldExplore, shiftWeights } from "./ranking/explore.ts";
export { Graph, type Edge, type EdgeCode, type EdgeResult } from "./graph/graph.ts";
export {
  getAlgorithm,
  rank,
  type RankedCandidate,
  type Ranking,
  type RankOptions,
  type RoutingChoice,
} from "./ranking/rank.ts";
export { rankAndRecord, replayRanking, type RoutingRecord } from "./replay.ts";
export { findRoutes, type Route, type Routes } from "./graph/routes.ts";
export { computeRecordLatency } from "./ranking/record-latency.ts";
export type { WorkRecord } from "./ranking/record-latency.ts";
export { HALF_SCORE_LATENCY_MS } from "./ranking/score.ts";
export {
  costSemiring,
  latencySemiring,
  routeSemiring,
  reliabilitySemiring,
  trustSemiring,
  type EdgeAttributes,
  type RouteAttributes,
  type Semiring,
} from "./semiring.ts";
export {
  createTrustRecord,
  applyPayment,
  applyTaskOutcome,
  setTrustLevel,
  type TaskOutcome,
  type TrustRecord,
} from "./trust/trust.ts";
export {
  computeNextLevel,
  selectDisplayedLevel,
  getTrustScore,
  type TrustLevel,
} from "./trust/trust-level.ts";
export { DEFAULT_WEIGHTS, type SubScores, type Weights } from "./weights.ts";
