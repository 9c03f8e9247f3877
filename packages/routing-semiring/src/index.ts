export type { Candidate, GivenRoute } from "./candidate.ts";
export { bestPath, type BestPath } from "./best-paths.ts";
export { targetEligibility, type TargetRefusal } from "./eligibility.ts";
export { countedStatus, type EndedTask } from "./counted-status.ts";
export { draw, explores, shiftWeights } from "./explore.ts";
export { Graph, type Edge, type EdgeCode, type EdgeResult } from "./graph.ts";
export {
  algorithmOf,
  rank,
  type RankedCandidate,
  type Ranking,
  type RankOptions,
  type RoutingChoice,
} from "./rank.ts";
export { rankAndRecord, replay, type RoutingRecord } from "./replay.ts";
export { routesFrom, type Route, type Routes } from "./routes.ts";
export { latencyOfRecord } from "./latency-of-record.ts";
export type { WorkRecord } from "./latency-of-record.ts";
export { LATENCY_HALF_MS } from "./score.ts";
export {
  cost,
  latency,
  product,
  reliability,
  trust,
  type EdgeFigures,
  type RouteFigures,
  type Semiring,
} from "./semiring.ts";
export {
  newTrustRecord,
  recordPayment,
  recordTask,
  setTrustLevel,
  type TaskOutcome,
  type TrustRecord,
} from "./trust.ts";
export { nextLevel, shownLevel, trustScore, type TrustLevel } from "./trust-level.ts";
export { DEFAULT_WEIGHTS, type SubScores, type Weights } from "./weights.ts";
