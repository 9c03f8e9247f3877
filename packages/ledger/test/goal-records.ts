import {
  type DelegatedTask,
  type GoalRecords,
  type Ledger,
  type PlanRecord,
  reconstructLedger,
  verifyLedger,
} from "../src/index.ts";
import { agentId, goalId, receipt, buildStep, taskId } from "./fixtures.ts";

/** The records of a goal without any data. */
export const emptyRecords: GoalRecords = { agentId, goalId, plans: [], tasks: [], events: [] };

export function reconstruct(records: Partial<GoalRecords>): Ledger {
  const ledger = reconstructLedger({ ...emptyRecords, ...records });
  if (ledger === null) throw new Error("nothing to reconstruct");
  return ledger;
}

/** Formats a timeline as a table. */
export const listEventTypes = ({ timeline: events }: Ledger) =>
  events.map(({ timestamp, type, payload }) => [timestamp, type, payload]);
/** Returns the warnings of a verdict on a valid ledger. */
export const listWarnings = (ledger: Ledger) =>
  verifyLedger(ledger)
    .checks.filter(({ ok }) => !ok)
    .map(({ code }) => code);

export const task: DelegatedTask = { task_id: taskId, step_id: "count", submitted_at: 30, receipt };

export const plan: PlanRecord = {
  plan_id: "plan",
  title: "Count",
  status: "failed",
  created_at: 5,
  steps: [
    buildStep("read", 0, {
      status: "completed",
      tools_used: ["read_file"],
      tool_calls: 2,
      started_at: 10,
      completed_at: 20,
    }),
    buildStep("count", 1, { status: "delegated", started_at: 25 }),
    buildStep("write", 2, { status: "failed", started_at: 40, completed_at: 50 }),
    buildStep("tidy", 3, {}),
  ],
};
