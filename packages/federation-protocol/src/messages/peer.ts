import { PeerEntrySchema } from "@agent/wire";
import { count, timestamp } from "@agent/wire/engine";
import * as v from "valibot";
import { balance, features, signature, uuid } from "../fields.ts";

/** The amount in USD that the sender owes the receiver; negative if it is owed that amount. */
export const StatedPositionSchema = v.object({ amount: balance, under_way: v.boolean() });
export type StatedPosition = v.InferOutput<typeof StatedPositionSchema>;

/**
 * A heartbeat and its answer. `signature` covers only `relay_id` and the decimal `timestamp`, so
 * the last three members count only under an `X-Relay-Signature` over the whole body.
 */
export const HeartbeatSchema = v.object({
  relay_id: uuid,
  timestamp,
  agent_count: count,
  signature,
  to: v.optional(uuid),
  features: v.optional(features),
  /** Counts the restores of the sender's database from a backup. */
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
