import * as v from "valibot";
import { count, nextCursor, page, ratio } from "./fields.ts";
import { operation } from "./operation.ts";
import { TrustLevel } from "./registry.ts";

/** What a delegator's settled history says of an executor (docs/decisions.md, 6). */
export const TrustRecord = v.object({
  agent_id: v.string(),
  remote_agent_id: v.string(),
  trust_level: TrustLevel,
  first_seen_at: v.number(),
  last_seen_at: v.number(),
  interaction_count: count,
  successful_tasks: count,
  failed_tasks: count,
  avg_latency_ms: v.nullable(v.number()),
  trust_score: ratio,
});
export type TrustRecord = v.InferOutput<typeof TrustRecord>;

export const trust = {
  listTrust: operation({
    method: "GET",
    path: "/api/v1/agents/:agentId/trust",
    summary: "An agent's trust records of the agents it delegated to.",
    section: "Trust",
    auth: "bearer",
    ownerOnly: true,
    scope: "credentials:read",
    tier: "read",
    query: v.object(page),
    ok: { 200: v.object({ records: v.array(TrustRecord), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
} as const;
