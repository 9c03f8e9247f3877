import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  extensibleEnum,
  freeText,
  money,
  nextCursor,
  pageQuery,
  timeText,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** An agent that was ever bound to a key here. */
export const OperatorAgent = v.object({
  agent_id: v.string(),
  /** The name of its registration; null without one. */
  name: v.nullable(v.string()),
  state: extensibleEnum(["bound", "registered", "revoked"]),
  online: v.boolean(),
  sockets: wholeNumber,
  capabilities: v.array(v.string()),
  first_seen_at: wholeNumber,
  last_seen_at: wholeNumber,
  /** The time at which a call found nothing at its endpoint, until its next sign of life. */
  unreachable_at: v.nullable(wholeNumber),
  open_tasks: wholeNumber,
  /** The credentials about it that the relay has, with revoked and expired ones. */
  credentials: wholeNumber,
  balance: money,
  /** Its tasks that failed or were denied in the last 24 hours. */
  failed_24h: wholeNumber,
});
export type OperatorAgent = v.InferInput<typeof OperatorAgent>;

/** A span of time, in ms. */
const TimeSpan = v.object({ from: wholeNumber, until: wholeNumber });

export const allAgents = {
  listAllAgents: defineOperation({
    method: "GET",
    path: "/api/v1/admin/agents",
    summary: "List every agent that is bound to a key, whether or not it is registered.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      state: describeAs(
        v.optional(v.picklist(["bound", "registered", "revoked"])),
        "Only agents in this state.",
      ),
      q: describeAs(
        v.optional(freeText),
        "A part of the id or of the registered name or capabilities.",
      ),
      sort: describeAs(
        v.optional(v.picklist(["id", "seen"])),
        "The order: by id, or the agent that was seen last first.",
      ),
      ...pageQuery,
    }),
    ok: { 200: v.object({ agents: v.array(OperatorAgent), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
  getOnlineHistory: defineOperation({
    method: "GET",
    path: "/api/v1/admin/agents/:agentId/online-history",
    summary: "Get when an agent was online since `from`, at most in the last 7 days, oldest first.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      from: describeAs(
        v.optional(timeText),
        "The beginning of the period, in ms since the Unix epoch; a day ago if absent.",
      ),
    }),
    ok: {
      200: v.object({
        agent_id: v.string(),
        from: wholeNumber,
        to: wholeNumber,
        /** The times in which it was online, exact to a minute; each lies within one of `watched`. */
        spans: v.array(TimeSpan),
        /**
         * The times in which the relay looked, from the one on in which it was known. Of the others, such as
         * those of a stop, nothing is known.
         */
        watched: v.array(TimeSpan),
      }),
    },
    refusals: ["agent.not_found"],
  }),
} as const;
