import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  agentId,
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
  name: describeAs(v.nullable(v.string()), "The name of its registration; null if there is none."),
  state: describeAs(
    extensibleEnum(["bound", "registered", "revoked"]),
    "Whether it is only bound to a key, registered, or revoked.",
  ),
  online: describeAs(v.boolean(), "Whether the agent is reachable now."),
  sockets: describeAs(wholeNumber, "The number of its open sockets."),
  capabilities: v.array(v.string()),
  first_seen_at: wholeNumber,
  last_seen_at: wholeNumber,
  unreachable_at: describeAs(
    v.nullable(wholeNumber),
    "The time at which a call found nothing at its endpoint, or it closed its last socket in order, in ms since the Unix epoch, until the relay sees it again; null otherwise.",
  ),
  open_tasks: describeAs(wholeNumber, "The number of its open tasks."),
  credentials: describeAs(
    wholeNumber,
    "The number of credentials about it that the relay has, with revoked and expired ones.",
  ),
  balance: money,
  failed_24h: describeAs(
    wholeNumber,
    "The number of its tasks that failed or were denied in the last 24 hours.",
  ),
});
export type OperatorAgent = v.InferInput<typeof OperatorAgent>;

/** A span of time, in ms. */
const TimeSpan = v.object({
  from: describeAs(wholeNumber, "The beginning, in ms since the Unix epoch."),
  until: describeAs(wholeNumber, "The end, in ms since the Unix epoch."),
});

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
      agent: describeAs(v.optional(agentId), "Only the agent with this id."),
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
    ok: {
      200: v.object({
        agents: describeAs(v.array(OperatorAgent), "The agents."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  getOnlineHistory: defineOperation({
    method: "GET",
    path: "/api/v1/admin/agents/:agentId/online-history",
    summary:
      "Get the times when an agent was online since `from`, oldest first, for at most the last 7 days.",
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
        from: describeAs(wholeNumber, "The beginning of the period, in ms since the Unix epoch."),
        to: describeAs(wholeNumber, "The end of the period, in ms since the Unix epoch."),
        spans: describeAs(
          v.array(TimeSpan),
          "The periods in which it was online, exact to a minute; each is within one of `watched`.",
        ),
        watched: describeAs(
          v.array(TimeSpan),
          "The periods in which the relay checked; nothing is known about others, for example while it was stopped.",
        ),
      }),
    },
    refusals: ["agent.not_found"],
  }),
} as const;
