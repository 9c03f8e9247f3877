export type { Candidate, FixedRoute } from "./candidate.ts";
export { findBestPath, type BestPath } from "./best-paths.ts";
export { checkTargetEligibility, type TargetRefusal } from "./eligibility.ts";
export { getCountedStatus, type EndedTask } from "./counted-status.ts";
export { drawRandom, shouldExplore, shiftWeights } from "./explore.ts";
export { Graph, type Edge, type EdgeCode, type EdgeResult } from "./graph.ts";
export {
  getAlgorithm,
  rank,
  type RankedCandidate,
  type Ranking,
  type RankOptions,
  type RoutingChoice,
} from "./rank.ts";
export { rankAndRecord, replayRanking, type RoutingRecord } from "./replay.ts";
export { findRoutes, type Route, type Routes } from "./routes.ts";
export { computeRecordLatency } from "./latency-of-record.ts";
export type { WorkRecord } from "./latency-of-record.ts";
export { HALF_SCORE_LATENCY_MS } from "./score.ts";
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
} from "./trust.ts";
export {
  computeNextLevel,
  selectDisplayedLevel,
  getTrustScore,
  type TrustLevel,
} from "./trust-level.ts";
export { DEFAULT_WEIGHTS, type SubScores, type Weights } from "./weights.ts";
