import * as v from "valibot";
import { extensibleEnum } from "../extensible-enum.ts";
import { balance, count, features, hex32, shortText, signature, time, uuid } from "../fields.ts";

/** What the sender owes the receiver, in USD; below 0 what it is owed. */
export const StatedPositionSchema = v.object({ amount: balance, under_way: v.boolean() });
export type StatedPosition = v.InferOutput<typeof StatedPositionSchema>;

/**
 * A sign of life and its answer; `signature` is over `relay_id` and the decimal `timestamp` only, so
 * the last three members are believed under `X-Relay-Signature` over the whole body alone.
 */
export const HeartbeatSchema = v.object({
  relay_id: uuid,
  timestamp: time,
  agent_count: count,
  signature,
  to: v.optional(uuid),
  features: v.optional(features),
  /** Grows with every restore of the sender's database from a backup. */
  incarnation: v.optional(count),
  position: v.optional(StatedPositionSchema),
});
export type Heartbeat = v.InferOutput<typeof HeartbeatSchema>;

/** The end of a peering; `signature` is over the canonical JSON of the other members. */
export const RemovalSchema = v.object({
  relay_id: uuid,
  timestamp: time,
  signature,
  to: v.optional(uuid),
});
export type Removal = v.InferOutput<typeof RemovalSchema>;

export const RemovalAnswerSchema = v.object({ status: v.literal("removed") });
export type RemovalAnswer = v.InferOutput<typeof RemovalAnswerSchema>;

export const PEER_STATES = ["pending", "active", "suspended", "removed"] as const;
export type PeerState = (typeof PEER_STATES)[number];

/** A peer as others may see it. */
export const PeerEntrySchema = v.object({
  relay_id: uuid,
  public_key: hex32,
  endpoint_url: v.string(),
  display_name: shortText,
  state: extensibleEnum(PEER_STATES),
  trust_score: v.number(),
  agent_count: count,
  last_heartbeat_at: v.nullable(time),
  missed_heartbeats: count,
});
export type PeerEntry = v.InferInput<typeof PeerEntrySchema>;

/** The answer of `GET /federation/v1/peers`. */
export const PeerListSchema = v.object({ peers: v.array(PeerEntrySchema) });
