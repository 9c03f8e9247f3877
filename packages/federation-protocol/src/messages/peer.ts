import * as v from "valibot";
import { extensibleEnum } from "../extensible-enum.ts";
import { count, hex32, shortText, signature, time, uuid } from "../fields.ts";

/** A sign of life and its answer; `signature` is over `relay_id` and the decimal `timestamp`. */
export const HeartbeatSchema = v.object({
  relay_id: uuid,
  timestamp: time,
  agent_count: count,
  signature,
  to: v.optional(uuid),
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
