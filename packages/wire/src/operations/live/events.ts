import { canonicalize, unlessMalformed } from "@agent/crypto";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  capability,
  createBatchSchema,
  id,
  pathId,
  looseObject,
  nextCursor,
  pageQuery,
  timestamp,
  wholeNumber,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

/**
 * Returns false for a payload with a lone surrogate: it has no canonical form, so a ledger cannot hash it.
 */
function isCanonical(value: Record<string, unknown>): boolean {
  return unlessMalformed(() => canonicalize(value)) !== undefined;
}

const payload = v.pipe(
  looseObject,
  v.check(isCanonical, "must be well-formed JSON"),
  v.check(
    (value) => JSON.stringify(value).length <= limits.eventCharacters,
    `must be at most ${limits.eventCharacters} characters of JSON`,
  ),
);

const NewEvent = v.object({
  event_id: describeAs(v.optional(pathId), "The id of the event; the relay chooses one if absent."),
  type: describeAs(capability, "The type of the event."),
  timestamp: describeAs(timestamp, "The time of the event, in ms since the Unix epoch."),
  goal_id: describeAs(v.optional(pathId), "The id of the goal that the event belongs to."),
  payload: describeAs(v.optional(payload, {}), "What belongs to the event, a JSON object."),
});
export type NewEvent = v.InferOutput<typeof NewEvent>;

/** An entry of an agent's log; `clock` increases by 1 with each entry. */
export const AgentEvent = v.object({
  event_id: describeAs(v.string(), "The id of the event."),
  type: describeAs(v.string(), "The type of the event."),
  timestamp: describeAs(wholeNumber, "The time of the event, in ms since the Unix epoch."),
  goal_id: describeAs(
    v.nullable(v.string()),
    "The id of the goal that the event belongs to; null if there is none.",
  ),
  payload: describeAs(looseObject, "What belongs to the event, a JSON object."),
  clock: describeAs(
    wholeNumber,
    "The number of the entry in the log, 1 more than that of the entry before.",
  ),
});
export type AgentEvent = v.InferOutput<typeof AgentEvent>;

export const events = {
  appendEvents: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/events",
    summary: "Append one or more events to an agent's log; known events are not appended again.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "ledger:write",
    tier: "write",
    body: v.union([
      v.object({
        events: describeAs(
          createBatchSchema(NewEvent),
          "The events, which are appended together or not at all.",
        ),
      }),
      NewEvent,
    ]),
    ok: {
      201: v.object({ events: describeAs(v.array(AgentEvent), "The events as they are stored.") }),
    },
    refusals: ["agent.not_found", "event.id_taken", "event.goal_full"],
  }),
  listEvents: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/events",
    summary: "List an agent's events in log order, optionally those of one goal.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object({
      goal_id: describeAs(v.optional(id), "Only events of this goal."),
      ...pageQuery,
    }),
    ok: {
      200: v.object({
        events: describeAs(v.array(AgentEvent), "The events, in the order of the log."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  getEvent: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/events/:eventId",
    summary: "Get one event of an agent's log.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    ok: { 200: AgentEvent },
    refusals: ["event.not_found"],
  }),
} as const;
