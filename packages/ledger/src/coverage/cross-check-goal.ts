import type { Contradiction, GoalContradiction } from "../refusals.ts";
import type { Ledger } from "../schema.ts";

/** Lists the differences between the timeline and `goal_id`, `plan_id` and `status`. */
export function crossCheckGoal(ledger: Ledger): Contradiction<GoalContradiction>[] {
  const found: Contradiction<GoalContradiction>[] = [];
  let plans = 0;
  let isPlanned = false;
  let final: Ledger["status"] | undefined;
  for (const [index, { type, payload }] of ledger.timeline.entries()) {
    if (type === "goal_started" && payload.goal_id !== ledger.goal_id) {
      found.push({ code: "ledger.goal_mismatch", path: `timeline.${index}.payload.goal_id` });
    } else if (type === "plan_created") {
      plans += 1;
      isPlanned ||= payload.plan_id === ledger.plan_id;
    } else if (type === "goal_completed") {
      final = payload.status;
    }
  }
  if (plans > 0 && !isPlanned) found.push({ code: "ledger.plan_mismatch", path: "plan_id" });
  if (final !== undefined && final !== ledger.status) {
    found.push({ code: "ledger.status_mismatch", path: "status" });
  }
  return found;
}
