import { LEDGER_STATUSES } from "@agent/ledger";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { extensibleEnum, nextCursor, pageQuery, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { Freshness } from "../agents/registry.ts";

/** A goal of an agent; a goal that is a task has the task's id. */
export const Goal = v.object({
  goal_id: v.string(),
  status: describeAs(extensibleEnum(LEDGER_STATUSES), "The state of the goal."),
  signed: describeAs(v.boolean(), "Whether a signed ledger of the goal is stored."),
  plans: describeAs(wholeNumber, "The number of its plans."),
  task_status: describeAs(
    v.nullable(v.string()),
    "The state of the task with the id of the goal; null if there is none.",
  ),
});
export type Goal = v.InferInput<typeof Goal>;

export const AgentState = v.object({
  agent_id: v.string(),
  registered: describeAs(v.boolean(), "Whether the agent is registered for discovery."),
  revoked: describeAs(v.boolean(), "Whether the agent is revoked."),
  online: describeAs(v.boolean(), "Whether the agent is reachable now."),
  freshness: extensibleEnum(Freshness.options),
  last_seen_at: wholeNumber,
  open_tasks: describeAs(
    wholeNumber,
    "The number of open tasks that are assigned to the agent, or targeted at it and not assigned.",
  ),
  submitted_open_tasks: describeAs(
    wholeNumber,
    "The number of open tasks that the agent submitted.",
  ),
  devices: describeAs(wholeNumber, "The number of its devices that are not revoked."),
  ledgers: describeAs(wholeNumber, "The number of its stored ledgers."),
  events: describeAs(wholeNumber, "The number of events in its log."),
});
export type AgentState = v.InferInput<typeof AgentState>;

/** An action on an agent and its actor. */
export const AuditEntry = v.object({
  sequence: describeAs(wholeNumber, "The number of the entry."),
  at: wholeNumber,
  actor: describeAs(
    v.string(),
    "An agent's id, `operator` (`operator:1` or `operator:2` while there are two tokens), `session:` and an id, or `anonymous`.",
  ),
  device_id: describeAs(
    v.nullable(v.string()),
    "The id of the device that acted; null if there is none.",
  ),
  action: describeAs(v.string(), "The name of the action."),
  detail: describeAs(
    v.nullable(v.string()),
    "More about the action, in plain text; null without it.",
  ),
});
export type AuditEntry = v.InferOutput<typeof AuditEntry>;

export const agentState = {
  listGoals: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/goals",
    summary: "List the goals with a ledger, a plan or a task of the agent, by goal id.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: {
      200: v.object({ goals: describeAs(v.array(Goal), "The goals."), next_cursor: nextCursor }),
    },
    refusals: ["request.invalid"],
  }),
  getState: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/state",
    summary: "Get an agent's state at this relay.",
    section: "Records",
    auth: "bearer",
    audited: "never",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    ok: { 200: AgentState },
    refusals: ["agent.not_found"],
  }),
  listAudit: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/audit",
    summary: "List the audited actions on an agent, newest first.",
    section: "Records",
    auth: "bearer",
    audited: "never",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: {
      200: v.object({
        entries: describeAs(v.array(AuditEntry), "The audited actions, newest first."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
} as const;
