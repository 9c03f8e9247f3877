import * as v from "valibot";
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
  agent_id: v.string(),
  remote_agent_id: v.string(),
  trust_level: extensibleEnum(TrustLevel.options),
  first_seen_at: wholeNumber,
  last_seen_at: wholeNumber,
  interaction_count: count,
  successful_tasks: count,
  failed_tasks: count,
  avg_latency_ms: v.nullable(v.number()),
  trust_score: ratio,
});
export type TrustRecord = v.InferInput<typeof TrustRecord>;

const path = v.array(v.string());

/** An agent that is trusted directly or through others; the path leads from the asking agent to it. */
const TrustedAgent = v.object({ agent_id: v.string(), trust: ratio, path });

export const trust = {
  listTrust: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/trust",
    summary: "List an agent's trust records of the agents that it delegated to.",
    section: "Trust",
    auth: "bearer",
    ownerOnly: true,
    scope: "credentials:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: { 200: v.object({ records: v.array(TrustRecord), next_cursor: nextCursor }) },
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
    ok: { 200: v.object({ records: v.array(TrustRecord), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
  getTrust: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/trust/:remoteId",
    summary: "Get an agent's trust record of an agent that it delegated to.",
    section: "Trust",
    auth: "bearer",
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
    body: v.object({ trust_level: TrustLevel }),
    ok: { 200: TrustRecord },
    refusals: ["request.invalid", "agent.not_found", "trust.blocked", "trust.level_earned"],
  }),
  getTrustClosure: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/trust-closure",
    summary: "List the agents that an agent trusts directly or through others, most trusted first.",
    section: "Trust",
    auth: "bearer",
    ownerOnly: true,
    scope: "credentials:read",
    tier: "expensive",
    ok: { 200: v.object({ agent_id: v.string(), closure: v.array(TrustedAgent) }) },
    refusals: [],
  }),
  getTrustPath: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/path-to/:targetId",
    summary: "Find the most trusted path from one agent to another.",
    section: "Trust",
    auth: "bearer",
    tier: "expensive",
    ok: { 200: v.object({ source: v.string(), target: v.string(), trust: ratio, path }) },
    refusals: ["trust.no_path"],
  }),
} as const;
