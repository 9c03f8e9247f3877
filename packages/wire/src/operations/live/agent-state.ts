import { LEDGER_STATUSES } from "@agent/ledger";
import * as v from "valibot";
import { extensibleEnum, nextCursor, pageQuery, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { Freshness } from "../agents/registry.ts";

/** A goal of an agent; a goal that is a task has the task's id. */
export const Goal = v.object({
  goal_id: v.string(),
  status: extensibleEnum(LEDGER_STATUSES),
  /** Whether a signed ledger of the goal is stored. */
  signed: v.boolean(),
  plans: wholeNumber,
  task_status: v.nullable(v.string()),
});
export type Goal = v.InferInput<typeof Goal>;

export const AgentState = v.object({
  agent_id: v.string(),
  registered: v.boolean(),
  revoked: v.boolean(),
  online: v.boolean(),
  freshness: extensibleEnum(Freshness.options),
  last_seen_at: wholeNumber,
  /** Open tasks assigned to the agent; `submitted_open_tasks` are those that it submitted. */
  open_tasks: wholeNumber,
  submitted_open_tasks: wholeNumber,
  devices: wholeNumber,
  ledgers: wholeNumber,
  events: wholeNumber,
});
export type AgentState = v.InferInput<typeof AgentState>;

/** An action on an agent and its actor. */
export const AuditEntry = v.object({
  sequence: wholeNumber,
  at: wholeNumber,
  /** An agent's id, `operator` (`operator:1` or `operator:2` while there are two tokens), or `anonymous`. */
  actor: v.string(),
  device_id: v.nullable(v.string()),
  action: v.string(),
  detail: v.nullable(v.string()),
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
    ok: { 200: v.object({ goals: v.array(Goal), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
  getState: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/state",
    summary: "Get an agent's state at this relay.",
    section: "Records",
    auth: "bearer",
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
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: { 200: v.object({ entries: v.array(AuditEntry), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
} as const;
