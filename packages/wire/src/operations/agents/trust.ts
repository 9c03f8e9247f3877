import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  count,
  extensibleEnum,
  nextCursor,
  pageQuery,
  ratio,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { TrustLevel } from "./registry.ts";

/** The trust that a delegator's settled tasks give an executor (docs/decisions.md, 6). */
export const TrustRecord = v.object({
  agent_id: describeAs(v.string(), "The id of the agent that delegated the tasks."),
  remote_agent_id: describeAs(v.string(), "The id of the agent that tasks were delegated to."),
  trust_level: extensibleEnum(TrustLevel.options),
  first_seen_at: wholeNumber,
  last_seen_at: wholeNumber,
  interaction_count: describeAs(count, "The number of delegated tasks that are counted."),
  successful_tasks: describeAs(count, "The number of delegated tasks that were completed."),
  failed_tasks: describeAs(count, "The number of delegated tasks that failed."),
  avg_latency_ms: v.nullable(v.number()),
  trust_score: ratio,
});
export type TrustRecord = v.InferInput<typeof TrustRecord>;

const path = v.array(v.string());

/** An agent that is trusted directly or through others; the path leads from the asking agent to it. */
const TrustedAgent = v.object({
  agent_id: v.string(),
  trust: describeAs(ratio, "The product of the trust along the path, from 0 to 1."),
  path: describeAs(path, "The ids of the agents from the asking agent to this one."),
});

export const trust = {
  listTrust: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/trust",
    summary: "List an agent's trust records of the agents that it delegated to.",
    section: "Trust",
    auth: "bearer",
    audited: "never",
    ownerOnly: true,
    scope: "credentials:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: {
      200: v.object({
        records: describeAs(v.array(TrustRecord), "The trust records."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  listTrustReceived: defineOperation({
    method: "GET",
    path: "/api/v1/admin/agents/:agentId/trust",
    summary: "List the trust records that delegators have of an agent.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object(pageQuery),
    ok: {
      200: v.object({
        records: describeAs(v.array(TrustRecord), "The trust records."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  getTrust: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/trust/:remoteId",
    summary: "Get an agent's trust record of an agent that it delegated to.",
    section: "Trust",
    auth: "bearer",
    audited: "never",
    ownerOnly: true,
    scope: "credentials:read",
    tier: "read",
    ok: { 200: TrustRecord },
    refusals: ["trust.not_found"],
  }),
  setTrustLevel: defineOperation({
    method: "PUT",
    path: "/api/v1/agents/:agentId/trust/:remoteId",
    summary: "Block an agent permanently: it scores 0 and receives no task of this delegator.",
    section: "Trust",
    auth: "bearer",
    ownerOnly: true,
    scope: "agent:write",
    tier: "write",
    body: v.object({
      trust_level: describeAs(
        TrustLevel,
        "The level: only `blocked` can be set, all others are earned.",
      ),
    }),
    ok: { 200: TrustRecord },
    refusals: ["request.invalid", "agent.not_found", "trust.blocked", "trust.level_earned"],
  }),
  getTrustClosure: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/trust-closure",
    summary: "List the agents that an agent trusts directly or through others, most trusted first.",
    section: "Trust",
    auth: "bearer",
    audited: "never",
    ownerOnly: true,
    scope: "credentials:read",
    tier: "expensive",
    ok: {
      200: v.object({
        agent_id: v.string(),
        closure: describeAs(v.array(TrustedAgent), "The trusted agents, most trusted first."),
      }),
    },
    refusals: [],
  }),
  getTrustPath: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/path-to/:targetId",
    summary: "Find the most trusted path from one agent to another.",
    section: "Trust",
    auth: "bearer",
    audited: "never",
    tier: "expensive",
    ok: {
      200: v.object({
        source: describeAs(v.string(), "The id of the agent at which the path begins."),
        target: describeAs(v.string(), "The id of the agent at which the path ends."),
        trust: describeAs(ratio, "The product of the trust along the path, from 0 to 1."),
        path: describeAs(path, "The ids of the agents on the path, from one to the other."),
      }),
    },
    refusals: ["trust.no_path"],
  }),
} as const;
