import { LEDGER_EVENT_TYPES, type EventRecord, type PlanRecord } from "@agent/ledger";
import { limits } from "@agent/wire";
import type { Reader } from "../storage/storage.ts";
import type { AgentEventRow, PlanRow } from "../storage/tables/records.ts";
import { listEventsInOrder } from "./event-store.ts";
import { listPlansByAgent, listStepTaskIds } from "./plan-store.ts";
import { toPlan } from "./plans.ts";
import type { Room } from "./room.ts";

/** The maximum number of records that a ledger is built from; earlier plans and later tasks are left out. */
const MAX_PLANS = 1_000;
const MAX_TASKS = 1_000;

/** Rows that are read at once, because each can have a megabyte of text. */
const PLANS_AT_ONCE = 4;
const EVENTS_AT_ONCE = 64;

const ledgerTypes: ReadonlySet<string> = new Set(LEDGER_EVENT_TYPES);

interface Goal {
  readonly agent_id: string;
  readonly goal_id: string;
}

/**
 * Loads an agent's records of a goal for which a ledger has room: the newest plans and the first events,
 * each oldest first, and the tasks that it submitted for the goal's steps.
 */
export async function loadRecordsOfGoal(
  read: Reader,
  goal: Goal,
  room: Room,
): Promise<{ plans: PlanRecord[]; taskIds: string[]; events: EventRecord[] }> {
  const plans = await loadPlans(read, goal, room);
  const events = await loadEvents(read, goal, room);
  const taskIds = await listStepTaskIds(read, { ...goal, limit: MAX_TASKS });
  return { plans: plans.toReversed(), taskIds, events };
}

async function loadPlans(read: Reader, goal: Goal, room: Room): Promise<PlanRecord[]> {
  const plans: PlanRecord[] = [];
  let rows: PlanRow[] = [];
  do {
    const before = rows.at(-1)?.sequence ?? "~";
    rows = await listPlansByAgent(read, { ...goal, before, limit: PLANS_AT_ONCE });
    for (const row of rows) {
      if (!room.reserve(row.title, row.steps)) return plans;
      plans.push(toPlan(row));
    }
  } while (rows.length === PLANS_AT_ONCE && plans.length < MAX_PLANS);
  return plans;
}

async function loadEvents(read: Reader, goal: Goal, room: Room): Promise<EventRecord[]> {
  const events: EventRecord[] = [];
  let stepId = "";
  let rows: AgentEventRow[] = [];
  do {
    const after = rows.at(-1)?.clock ?? 0;
    rows = await listEventsInOrder(read, { ...goal, after, limit: EVENTS_AT_ONCE });
    for (const { type, timestamp, payload: text } of rows) {
      if (!ledgerTypes.has(type)) continue;
      const payload = JSON.parse(text) as Record<string, unknown>;
      // The events of a step repeat its id.
      if (typeof payload["step_id"] === "string") stepId = payload["step_id"];
      if (!room.reserve(text, stepId)) return events;
      events.push({ type, timestamp, payload });
    }
  } while (rows.length === EVENTS_AT_ONCE && events.length < limits.goalEvents);
  return events;
}
