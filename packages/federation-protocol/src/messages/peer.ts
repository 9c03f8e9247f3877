import { PeerEntrySchema } from "@agent/wire";
import { count, timestamp } from "@agent/wire/engine";
import * as v from "valibot";
import { balance, features, signature, uuid } from "../fields.ts";

/** What the sender owes the receiver, in USD; below 0 what it is owed. */
export const StatedPositionSchema = v.object({ amount: balance, under_way: v.boolean() });
export type StatedPosition = v.InferOutput<typeof StatedPositionSchema>;

/**
 * A sign of life and its answer; `signature` is over `relay_id` and the decimal `timestamp` only, so
 * the last three members are believed under `X-Relay-Signature` over the whole body alone.
 */
export const HeartbeatSchema = v.object({
  relay_id: uuid,
  timestamp,
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
  timestamp,
  signature,
  to: v.optional(uuid),
});
export type Removal = v.InferOutput<typeof RemovalSchema>;

export const RemovalAnswerSchema = v.object({ status: v.literal("removed") });
export type RemovalAnswer = v.InferOutput<typeof RemovalAnswerSchema>;

/** The answer of `GET /federation/v1/peers`. */
export const PeerListSchema = v.object({ peers: v.array(PeerEntrySchema) });
