import {
  limits,
  refuse,
  type AgentEvent,
  type Answer,
  type BodyOf,
  type NewEvent,
  type Operations,
  type QueryOf,
} from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { numberAscending, createPageAnswer } from "../http/paging/page.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AgentEventRow } from "../storage/tables/records.ts";
import {
  getLastClock,
  countEventsOfGoal,
  listEventsInOrder,
  findEvent,
  insertEvent,
} from "./event-store.ts";

type Append = Operations["appendEvents"];

/** Appends events to an agent's log, all or none; an event that is already stored keeps its position. */
export async function appendEvents(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  agent_id: string,
  body: BodyOf<Append>,
): Promise<Answer<Append>> {
  const given = "events" in body ? body.events : [body];
  const named = given.map((event) => ({ ...event, event_id: event.event_id ?? newId(runtime) }));
  return storage.transaction(async (tx) => {
    if ((await findAgent(tx, agent_id)) === undefined) return refuse("agent.not_found");
    const events: AgentEvent[] = [];
    let clock = await getLastClock(tx, agent_id);
    for (const event of named) {
      const known = await findEvent(tx, { agent_id, event_id: event.event_id });
      if (known !== undefined) {
        if (!isSameEvent(known, event)) return refuse("event.id_taken");
        events.push(toAgentEvent(known));
        continue;
      }
      if (await isGoalFull(tx, agent_id, event.goal_id)) return refuse("event.goal_full");
      clock += 1;
      const row: AgentEventRow = {
        agent_id,
        clock,
        event_id: event.event_id,
        type: event.type,
        timestamp: event.timestamp,
        goal_id: event.goal_id ?? null,
        payload: JSON.stringify(event.payload),
      };
      await insertEvent(tx, row);
      events.push(toAgentEvent(row));
    }
    return { status: 201 as const, body: { events } };
  });
}

/** A ledger is built from all events of its goal at once, so their number is bounded. */
async function isGoalFull(tx: Tx, agent_id: string, goal_id: string | undefined): Promise<boolean> {
  if (goal_id === undefined) return false;
  return (await countEventsOfGoal(tx, { agent_id, goal_id })) >= limits.goalEvents;
}

function isSameEvent(
  known: AgentEventRow,
  { type, timestamp, goal_id, payload }: NewEvent,
): boolean {
  return (
    known.type === type &&
    known.timestamp === timestamp &&
    known.goal_id === (goal_id ?? null) &&
    known.payload === JSON.stringify(payload)
  );
}

export async function getEvent(
  read: Reader,
  { agentId, eventId }: { agentId: string; eventId: string },
): Promise<Answer<Operations["getEvent"]>> {
  const row = await findEvent(read, { agent_id: agentId, event_id: eventId });
  return row === undefined ? refuse("event.not_found") : { status: 200, body: toAgentEvent(row) };
}

/** Lists events in the order of the log. */
export async function listEvents(
  read: Reader,
  agent_id: string,
  { goal_id = "", ...query }: QueryOf<Operations["listEvents"]>,
): Promise<Answer<Operations["listEvents"]>> {
  return createPageAnswer(query, {
    order: numberAscending,
    find: (after, limit) => listEventsInOrder(read, { agent_id, goal_id, after, limit }),
    keyOf: ({ clock }) => clock,
    show: (rows) => ({ events: rows.map(toAgentEvent) }),
  });
}

function toAgentEvent({ agent_id: _agent, payload, ...row }: AgentEventRow): AgentEvent {
  return { ...row, payload: JSON.parse(payload) as AgentEvent["payload"] };
}
