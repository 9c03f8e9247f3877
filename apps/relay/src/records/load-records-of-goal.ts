import type { EventRecord, PlanRecord } from "@agent/ledger";
import { limits } from "@agent/wire";
import type { Reader } from "../storage/storage.ts";
import { listEventsInOrder } from "./event-store.ts";
import { listPlansByAgent, listStepTaskIds } from "./plan-store.ts";
import { toPlan } from "./plans.ts";

/** The most records that one ledger is built from; later plans and tasks are left out. */
const maxRecords = { plans: 1_000, tasks: 1_000 };

/**
 * Loads an agent's records of a goal, oldest first, and the tasks that it submitted for its steps.
 */
export async function loadRecordsOfGoal(
  read: Reader,
  goal: { agent_id: string; goal_id: string },
): Promise<{ plans: PlanRecord[]; taskIds: string[]; events: EventRecord[] }> {
  const [plans, taskIds, events] = await Promise.all([
    listPlansByAgent(read, { ...goal, before: "~", limit: maxRecords.plans }),
    listStepTaskIds(read, { ...goal, limit: maxRecords.tasks }),
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
