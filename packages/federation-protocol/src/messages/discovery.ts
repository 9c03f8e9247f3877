import { capabilities, count, longText, ratio, shortText, wholeNumber } from "@agent/wire/engine";
import * as v from "valibot";
import { envelope, hex32, money, summand, uuid } from "../fields.ts";

const queryMembers = {
  capability: v.optional(shortText),
  q: v.optional(shortText),
  limit: v.optional(count),
};

/** The search criteria of a query. */
export const AgentQuerySchema = v.object(queryMembers);
export type AgentQuery = v.InferOutput<typeof AgentQuerySchema>;

/** The body of discover; the query's members may also be in a nested `query`. */
export const DiscoverySchema = v.object({
  ...queryMembers,
  query: v.optional(AgentQuerySchema),
  hop_count: count,
  max_hops: count,
  visited: v.pipe(v.array(uuid), v.maxLength(1_000, "must hold at most 1000 entries")),
  query_id: uuid,
  origin_relay: uuid,
  ...envelope,
});
export type Discovery = v.InferOutput<typeof DiscoverySchema>;

const PriceSchema = v.object({
  capability: shortText,
  unit_cost: money,
  currency: v.literal("USD"),
  per: v.optional(shortText, "task"),
});

/**
 * An agent that a peer knows. `trust` (0..1) and `latency_ms` (ms) cover the whole path from the
 * answering relay; `hop_distance` counts the relays behind it. An agent without a key can be
 * listed, but no task can be sent to it, because its result could not be verified.
 */
export const RemoteAgentSchema = v.object({
  agent_id: uuid,
  public_key: v.optional(v.nullable(hex32), null),
  name: v.optional(shortText, ""),
  description: v.optional(longText, ""),
  capabilities,
  pricing: v.optional(v.pipe(v.array(PriceSchema), v.maxLength(100)), []),
  trust_level: v.optional(shortText, "unknown"),
  trust: v.optional(ratio),
  cost: v.optional(v.nullable(money), null),
  availability: v.optional(ratio, 0),
  latency_ms: v.optional(v.nullable(summand), null),
  source_relay: v.optional(uuid),
  relay_name: v.optional(shortText, ""),
  hop_distance: v.optional(wholeNumber, 0),
  /**
   * The key succession records from the key of a version 8 id to `public_key`: one record, or a
   * list with the oldest first. They keep unknown members, because both keys have signed all
   * members.
   */
  succession: v.optional(v.union([v.array(v.looseObject({})), v.looseObject({})])),
  /** True if the answering relay knows claims of this id under different keys. */
  id_conflict: v.optional(v.boolean()),
});
export type RemoteAgent = v.InferOutput<typeof RemoteAgentSchema>;

/**
 * The answer to discover. Each entry is checked alone, so that a bad one does not spoil the others.
 */
export const DiscoveryAnswerSchema = v.object({ agents: v.array(v.unknown()) });
export type DiscoveryAnswer = v.InferOutput<typeof DiscoveryAnswerSchema>;
