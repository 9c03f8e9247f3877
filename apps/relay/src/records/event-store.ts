import { queryBuilder, param, params, compile, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AgentEventRow } from "../storage/tables/records.ts";

type EventKey = Pick<AgentEventRow, "agent_id" | "event_id">;

const eventByKey = compile<EventKey>()(
  queryBuilder
    .selectFrom("agent_events")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("event_id", "=", param("event_id")),
);

export function findEvent(read: Reader, key: EventKey): Promise<AgentEventRow | undefined> {
  return read.get(eventByKey, key);
}

const maxClock = compile<{ agent_id: string }>()(
  queryBuilder
    .selectFrom("agent_events")
    .select((row) => row.fn.max("clock").as("clock"))
    .where("agent_id", "=", param("agent_id")),
);

/** Returns the newest clock of the log; 0 for an empty log. */
export async function getLastClock(read: Reader, agent_id: string): Promise<number> {
  return (await read.get(maxClock, { agent_id }))?.clock ?? 0;
}

const insertEventQuery = compile<AgentEventRow>()(
  queryBuilder
    .insertInto("agent_events")
    .values(params("agent_id", "clock", "event_id", "type", "timestamp", "goal_id", "payload")),
);

export async function insertEvent(tx: Tx, event: AgentEventRow): Promise<void> {
  await tx.run(insertEventQuery, event);
}

const eventCountByGoal = compile<{ agent_id: string; goal_id: string }>()(
  sql<{ count: number }>`
    select count(*) as count from agent_events
    where agent_id = ${param("agent_id")} and goal_id is not null and goal_id = ${param("goal_id")}`,
);

export async function countEventsOfGoal(
  read: Reader,
  goal: { agent_id: string; goal_id: string },
): Promise<number> {
  return (await read.get(eventCountByGoal, goal))?.count ?? 0;
}

export interface EventQuery {
  readonly agent_id: string;
  /** An empty text matches any goal. */
  readonly goal_id: string;
  readonly after: number;
  readonly limit: number;
}

const eventsInOrder = queryBuilder
  .selectFrom("agent_events")
  .selectAll()
  .where("agent_id", "=", param("agent_id"))
  .where("clock", ">", param("after"))
  .orderBy("clock")
  .limit(param("limit"));

const allEvents = compile<Omit<EventQuery, "goal_id">>()(eventsInOrder);
const eventsByGoal = compile<EventQuery>()(
  eventsInOrder.where("goal_id", "is not", null).where("goal_id", "=", param("goal_id")),
);

/** Lists events in the order of the log. */
export function listEventsInOrder(read: Reader, query: EventQuery): Promise<AgentEventRow[]> {
  return query.goal_id === "" ? read.all(allEvents, query) : read.all(eventsByGoal, query);
}
