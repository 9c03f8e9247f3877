import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AgentEventRow } from "../storage/tables/records.ts";

type Key = Pick<AgentEventRow, "agent_id" | "event_id">;

const eventByKey = prepare<Key>()(
  db
    .selectFrom("agent_events")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("event_id", "=", p("event_id")),
);

export function findEvent(read: Reader, key: Key): Promise<AgentEventRow | undefined> {
  return read.get(eventByKey, key);
}

const lastClock = prepare<{ agent_id: string }>()(
  db
    .selectFrom("agent_events")
    .select((row) => row.fn.max("clock").as("clock"))
    .where("agent_id", "=", p("agent_id")),
);

/** 0 for an empty log. */
export async function clockOf(read: Reader, agent_id: string): Promise<number> {
  return (await read.get(lastClock, { agent_id }))?.clock ?? 0;
}

const addEvent = prepare<AgentEventRow>()(
  db.insertInto("agent_events").values({
    agent_id: p("agent_id"),
    clock: p("clock"),
    event_id: p("event_id"),
    type: p("type"),
    timestamp: p("timestamp"),
    goal_id: p("goal_id"),
    payload: p("payload"),
  }),
);

export async function insertEvent(tx: Tx, event: AgentEventRow): Promise<void> {
  await tx.run(addEvent, event);
}

const countByGoal = prepare<{ agent_id: string; goal_id: string }>()(
  sql<{ count: number }>`
    select count(*) as count from agent_events
    where agent_id = ${p("agent_id")} and goal_id is not null and goal_id = ${p("goal_id")}`,
);

export async function countOfGoal(
  read: Reader,
  goal: { agent_id: string; goal_id: string },
): Promise<number> {
  return (await read.get(countByGoal, goal))?.count ?? 0;
}

export interface EventQuery {
  readonly agent_id: string;
  /** Empty: any. */
  readonly goal_id: string;
  readonly after: number;
  readonly limit: number;
}

const inOrder = db
  .selectFrom("agent_events")
  .selectAll()
  .where("agent_id", "=", p("agent_id"))
  .where("clock", ">", p("after"))
  .orderBy("clock")
  .limit(p("limit"));

const log = prepare<Omit<EventQuery, "goal_id">>()(inOrder);
const logOfGoal = prepare<EventQuery>()(
  inOrder.where("goal_id", "is not", null).where("goal_id", "=", p("goal_id")),
);

/** In the order of the log. */
export function eventsOf(read: Reader, query: EventQuery): Promise<AgentEventRow[]> {
  return query.goal_id === "" ? read.all(log, query) : read.all(logOfGoal, query);
}
