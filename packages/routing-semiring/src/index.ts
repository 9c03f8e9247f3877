export { findRules } from "./ranking/algorithm.ts";
export type { Candidate, FixedRoute } from "./ranking/candidate.ts";
export { findBestPath, type BestPath } from "./graph/best-paths.ts";
export { checkTaskDepth, MAX_TASK_DEPTH, type DepthRefusal } from "./ranking/task-depth.ts";
export { checkTargetEligibility, type TargetRefusal } from "./ranking/eligibility.ts";
export {
  getCountedStatus,
  getInspectedStatus,
  type EndedTask,
  type InspectedTask,
} from "./ranking/get-counted-status.ts";
export { Graph, type Edge, type EdgeCode, type EdgeResult } from "./graph/graph.ts";
export {
  findRankInSteps,
  rank,
  rankInSteps,
  type RankedCandidate,
  type Ranking,
  type RankOfCandidate,
  type RankOptions,
  type RoutingChoice,
} from "./ranking/rank.ts";
export { runSteps, type Steps } from "./ranking/run-steps.ts";
export {
  MAX_RECORDED_CANDIDATES,
  rankAndRecord,
  rankAndRecordInSteps,
  rankRecorded,
  replayRanking,
  type RecordExcerpt,
  type RecordOptions,
  type RoutingRecord,
} from "./replay.ts";
export { findRoutes, Routes, type Route } from "./graph/routes.ts";
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
  capLevelByFees,
  computeBacking,
  computeLeftFee,
  computeUsedFees,
  countsForStrangers,
  selectBackedLevel,
  selectDisplayedLevel,
  subtractBacking,
  sumBacking,
  sumPayerBacking,
  type Backing,
  type PayerRecord,
  type TrustThresholds,
} from "./trust/payer-backing.ts";
export { selectFigures, type TaskFigures } from "./trust/select-figures.ts";
export { getTrustScore, type TrustLevel } from "./trust/trust-level.ts";
export { DEFAULT_WEIGHTS, type SubScores, type Weights } from "./weights.ts";
