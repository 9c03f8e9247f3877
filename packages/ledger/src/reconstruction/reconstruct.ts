import { hashTimelineInSteps } from "../checks/hash-timeline.ts";
import type { LedgerEvent } from "../events.ts";
import { completeTimeline } from "./complete-timeline.ts";
import { listSteps } from "./list-steps.ts";
import { summarizeReceipt } from "./receipt-summary.ts";
import { parseRecordedEvents } from "./parse-recorded-events.ts";
import { runSteps, type Steps } from "../map-in-steps.ts";
import type { GoalRecord, GoalRecords } from "../records.ts";
import { type Ledger, LEDGER_SPEC } from "../schema.ts";
import type { LedgerStatus } from "../statuses.ts";

/**
 * Reconstructs the unsigned ledger of a goal from the records of a relay (specification, Ledger): the
 * events of the log, the missing events that plans and tasks imply, and the steps of the resulting
 * timeline. Null if the records contain no time. Throws CanonicalJsonError on a payload or a receipt that
 * has no canonical JSON.
 */
export function reconstructLedger(records: GoalRecords): Ledger | null {
  return runSteps(reconstructLedgerInSteps(records));
}

/**
 * Reconstructs like `reconstructLedger`, in steps of a few milliseconds, between which a server can do
 * other work. The records must not change before the last step.
 */
export function* reconstructLedgerInSteps(records: GoalRecords): Steps<Ledger | null> {
  const { agentId, goalId, goal = {}, plans, tasks } = records;
  const recorded = yield* parseRecordedEvents(records.events);
  yield;
  const completed = completeTimeline(recorded, records);
  yield;
  const status = getGoalStatus(completed, records);
  const timeline = addGoalEvents(completed, { ...goal, goalId, status });
  const [first] = timeline;
  if (first === undefined) return null;

  const planned = timeline.findLast((event) => event.type === "plan_created");
  return {
    spec: LEDGER_SPEC,
    agent_id: agentId,
    goal_id: goalId,
    plan_id: plans.at(-1)?.plan_id ?? planned?.payload.plan_id ?? "",
    started_at: first.timestamp,
    completed_at: timeline.findLast(({ type }) => type === "goal_completed")?.timestamp ?? null,
    status,
    timeline,
    steps: listSteps(timeline, records),
    delegation_receipts: tasks.flatMap(({ receipt }) => (receipt ? summarizeReceipt(receipt) : [])),
    content_hash: yield* hashTimelineInSteps(timeline),
  };
}

/** The log takes precedence over the goal, and the goal over its last plan. */
function getGoalStatus(
  timeline: readonly LedgerEvent[],
  { goal, plans }: GoalRecords,
): LedgerStatus {
  const final = timeline.findLast((event) => event.type === "goal_completed");
  if (final !== undefined) return final.payload.status ?? "completed";
  return goal?.status ?? plans.at(-1)?.status ?? "active";
}

/** Returns the timeline with the start of the goal and, if the goal has ended, its end. */
function addGoalEvents(
  timeline: readonly LedgerEvent[],
  {
    goalId,
    status,
    started_at,
    completed_at,
  }: GoalRecord & { goalId: string; status: LedgerStatus },
): LedgerEvent[] {
  const begin = timeline[0]?.timestamp ?? started_at;
  if (begin === undefined || begin === null) return [];
  const framedEvents = [...timeline];
  if (!timeline.some(({ type }) => type === "goal_started")) {
    const timestamp = Math.min(started_at ?? begin, begin);
    framedEvents.unshift({ timestamp, type: "goal_started", payload: { goal_id: goalId } });
  }
  const isCompleted = timeline.some(({ type }) => type === "goal_completed");
  if (!isCompleted && (status === "completed" || status === "failed")) {
    const latest = framedEvents.at(-1)!.timestamp;
    const timestamp = Math.max(completed_at ?? latest, latest);
    framedEvents.push({ timestamp, type: "goal_completed", payload: { status } });
  }
  return framedEvents;
}
