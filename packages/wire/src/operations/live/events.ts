import { canonicalize, unlessMalformed } from "@agent/crypto";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  capability,
  createBatchSchema,
  id,
  looseObject,
  nextCursor,
  pageQuery,
  timestamp,
  wholeNumber,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

/** Returns false for a payload with a lone surrogate: it has no canonical form, so no ledger can hash it. */
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
  event_id: v.optional(id),
  type: capability,
  timestamp,
  goal_id: v.optional(id),
  payload: v.optional(payload, {}),
});
export type NewEvent = v.InferOutput<typeof NewEvent>;

/** An entry of an agent's log; `clock` increases by 1 with each entry. */
export const AgentEvent = v.object({
  event_id: v.string(),
  type: v.string(),
  timestamp: wholeNumber,
  goal_id: v.nullable(v.string()),
  payload: looseObject,
  clock: wholeNumber,
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
    body: v.union([v.object({ events: createBatchSchema(NewEvent) }), NewEvent]),
    ok: { 201: v.object({ events: v.array(AgentEvent) }) },
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
    ok: { 200: v.object({ events: v.array(AgentEvent), next_cursor: nextCursor }) },
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
