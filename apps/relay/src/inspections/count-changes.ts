import { countsForParties } from "@agent/budget";
import type { InspectionCountRow, InspectionRow } from "../storage/tables/inspections.ts";
import { toStake } from "./terms.ts";

/** The parts of an inspection that decide in which figures it counts. */
export type CountedParts = Pick<
  InspectionRow,
  | "submitter_id"
  | "executor_id"
  | "arbiter_id"
  | "counted"
  | "terms"
  | "due"
  | "fee"
  | "offer"
  | "lost_by"
  | "decision"
  | "contested_at"
  | "passed_by"
  | "closed_at"
>;

type Figure = Exclude<keyof InspectionCountRow, "agent_id">;

/** Lists the figures in which an inspection counts, each with its agent. */
function listCounts(
  row: CountedParts,
  isDecisionCounted: boolean,
): [agentId: string, figure: Figure][] {
  if (row.counted === 0) return [];
  const { submitter_id, executor_id, arbiter_id, passed_by, lost_by } = row;
  const isClosed = row.closed_at !== null;
  const isRejected = isClosed && row.offer !== null;
  const isDisputed = row.contested_at !== null;
  const isDecided = isDisputed && row.decision !== null;
  // The operator answers for cases of any sum.
  const hasCost = countsForParties(toStake(row));
  const counts: [string | null, Figure, boolean][] = [
    [submitter_id, "submitter_closed", hasCost && isClosed],
    [submitter_id, "submitter_rejected", hasCost && isRejected],
    [submitter_id, "submitter_lost", hasCost && isClosed && lost_by === "submitter"],
    [executor_id, "executor_closed", hasCost && isClosed],
    [executor_id, "executor_rejected", hasCost && isRejected],
    [executor_id, "executor_lost", hasCost && isClosed && lost_by === "executor"],
    [arbiter_id, "arbiter_opened", isDisputed],
    [arbiter_id, "arbiter_decided", isDecided && isDecisionCounted],
    [arbiter_id, "arbiter_undecided", isDisputed && isClosed && !isDecided && lost_by === null],
    [passed_by, "arbiter_passed", hasCost],
  ];
  return counts.flatMap(([agentId, figure, isCounted]) =>
    agentId !== null && isCounted ? [[agentId, figure]] : [],
  );
}

const NO_COUNTS = {
  submitter_closed: 0,
  submitter_rejected: 0,
  submitter_lost: 0,
  executor_closed: 0,
  executor_rejected: 0,
  executor_lost: 0,
  arbiter_opened: 0,
  arbiter_decided: 0,
  arbiter_undecided: 0,
  arbiter_passed: 0,
} as const satisfies Record<Figure, 0>;

/**
 * Computes the changes to the statistics of each agent when an inspection moves from one state to the next,
 * ordered by agent id, so that transactions never deadlock. `isDecisionCounted`: whether its decision counts
 * for its arbiter.
 */
export function computeCountChanges(
  before: CountedParts,
  after: CountedParts,
  isDecisionCounted = true,
): InspectionCountRow[] {
  const changes = new Map<string, InspectionCountRow>();
  const add = (row: CountedParts, by: 1 | -1) => {
    for (const [agent_id, figure] of listCounts(row, isDecisionCounted)) {
      const change = changes.get(agent_id) ?? { agent_id, ...NO_COUNTS };
      changes.set(agent_id, { ...change, [figure]: change[figure] + by });
    }
  };
  add(before, -1);
  add(after, 1);
  return [...changes.values()]
    .filter((change) => Object.values(change).some((by) => typeof by === "number" && by !== 0))
    .sort((a, b) => (a.agent_id < b.agent_id ? -1 : 1));
}
