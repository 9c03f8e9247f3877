import type { EventRecord, PlanRecord } from "@agent/ledger";
import { limits } from "@agent/wire";
import type { Reader } from "../storage/storage.ts";
import { listEventsInOrder } from "./event-store.ts";
import { listPlansByAgent, listStepTaskIds } from "./plan-store.ts";
import { toPlan } from "./plans.ts";

/** The maximum number of records that a ledger is built from; later plans and tasks are left out. */
const MAX_PLANS = 1_000;
const MAX_TASKS = 1_000;

/**
 * Loads an agent's records of a goal, oldest first, and the tasks that it submitted for its steps.
 */
export async function loadRecordsOfGoal(
  read: Reader,
  goal: { agent_id: string; goal_id: string },
): Promise<{ plans: PlanRecord[]; taskIds: string[]; events: EventRecord[] }> {
  const [plans, taskIds, events] = await Promise.all([
    listPlansByAgent(read, { ...goal, before: "~", limit: MAX_PLANS }),
    listStepTaskIds(read, { ...goal, limit: MAX_TASKS }),
    listEventsInOrder(read, { ...goal, after: 0, limit: limits.goalEvents }),
  ]);
  return {
    plans: plans.map(toPlan).toReversed(),
    taskIds,
    events: events.map(({ type, timestamp, payload }) => ({
      type,
      timestamp,
      payload: JSON.parse(payload) as unknown,
    })),
  };
}
