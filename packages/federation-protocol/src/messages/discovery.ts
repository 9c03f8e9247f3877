import {
  capabilities,
  count,
  describeAs,
  longText,
  ratio,
  shortText,
  wholeNumber,
} from "@agent/wire/engine";
import * as v from "valibot";
import { envelope, hex32, latencyMs, money, uuid } from "../fields.ts";

const queryMembers = {
  capability: describeAs(v.optional(shortText), "Only agents with this capability."),
  q: describeAs(v.optional(shortText), "Words that the texts of an agent must contain."),
  limit: describeAs(
    v.optional(count),
    "The largest number of agents in the answer, at most 200; 200 if absent, and 0 counts as 1.",
  ),
};

/** The search criteria of a query. */
export const AgentQuerySchema = v.object(queryMembers);

/** The search criteria of a query. */
export type AgentQuery = v.InferOutput<typeof AgentQuerySchema>;

/** The body of discover. */
export const DiscoverySchema = v.object({
  ...queryMembers,
  query: describeAs(
    v.optional(AgentQuerySchema),
    "The criteria once more; a member beside `query` takes precedence over that within it.",
  ),
  hop_count: count,
  max_hops: count,
  visited: v.pipe(v.array(uuid), v.maxLength(1_000, "must hold at most 1000 entries")),
  query_id: uuid,
  origin_relay: describeAs(
    v.optional(uuid),
    "The id of the relay at which the query began; the first of `visited` if absent.",
  ),
  ...envelope,
});

/** The body of discover. */
export type Discovery = v.InferOutput<typeof DiscoverySchema>;

const PriceSchema = v.object({
  capability: shortText,
  unit_cost: money,
  currency: v.literal("USD"),
  per: v.optional(shortText, "task"),
});

/**
 * An agent that a peer knows. One without a key can be listed, but no task can be sent to it, because
 * its result could not be verified.
 */
export const RemoteAgentSchema = v.object({
  agent_id: uuid,
  public_key: describeAs(
    v.optional(v.nullable(hex32), null),
    "The Ed25519 public key, as 64 hex digits; null if none is known.",
  ),
  name: describeAs(v.optional(shortText, ""), "The name of the agent; empty without one."),
  description: describeAs(
    v.optional(longText, ""),
    "The description in the agent's listing; empty without one.",
  ),
  capabilities,
  pricing: v.optional(v.pipe(v.array(PriceSchema), v.maxLength(100)), []),
  trust_level: v.optional(shortText, "unknown"),
  trust: describeAs(
    v.optional(ratio),
    "The trust in the agent over the path from the answering relay, from 0 to 1; that of `trust_level` if absent.",
  ),
  cost: describeAs(
    v.optional(v.nullable(money), null),
    "The price of a task for the queried capability in USD; null without a listing.",
  ),
  availability: describeAs(
    v.optional(ratio, 0),
    "1 while the agent is reachable, else half of the availability that its listing promises.",
  ),
  latency_ms: describeAs(
    v.optional(v.nullable(latencyMs), null),
    "The expected time of a task in ms, with that of the path from the answering relay; null if unknown.",
  ),
  source_relay: v.optional(uuid),
  relay_name: v.optional(shortText, ""),
  hop_distance: v.optional(wholeNumber, 0),
  /** The records keep unknown members, because both keys have signed all members. */
  succession: describeAs(
    v.optional(v.union([v.array(v.looseObject({})), v.looseObject({})])),
    "The succession records from the key of a version 8 id to `public_key`: one, or a list, oldest first.",
  ),
  id_conflict: describeAs(
    v.optional(v.boolean()),
    "True if the answering relay knows claims of this id under different keys.",
  ),
});

/** An agent that a peer knows. */
export type RemoteAgent = v.InferOutput<typeof RemoteAgentSchema>;

/**
 * The answer to discover. Each entry is checked separately, so that an invalid one does not invalidate the
 * others.
 */
export const DiscoveryAnswerSchema = v.object({ agents: v.array(v.unknown()) });

/** The answer to discover; its entries are not checked yet, see `parseEntries`. */
export type DiscoveryAnswer = v.InferOutput<typeof DiscoveryAnswerSchema>;
