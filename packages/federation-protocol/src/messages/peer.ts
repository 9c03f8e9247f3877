import { PeerEntrySchema } from "@agent/wire";
import { count, describeAs, timestamp } from "@agent/wire/engine";
import * as v from "valibot";
import { balance, features, receiver, signature, uuid } from "../fields.ts";

/** The clearing position that a heartbeat states, in USD. */
export const StatedPositionSchema = v.object({
  amount: describeAs(
    balance,
    "The amount in USD that the sender owes the receiver; negative if the receiver owes the sender.",
  ),
  under_way: describeAs(
    v.boolean(),
    "Whether an open task or settlement between the two may still change the amount.",
  ),
});

/** The clearing position that a heartbeat states, in USD. */
export type StatedPosition = v.InferOutput<typeof StatedPositionSchema>;

/**
 * A heartbeat and its answer. `signature` covers only `relay_id` and the decimal `timestamp`, so
 * the last three members count only under an `X-Relay-Signature` over the whole body. `timestamp` is in ms
 * since the epoch, by the sender's clock.
 */
export const HeartbeatSchema = v.object({
  relay_id: uuid,
  timestamp,
  agent_count: count,
  signature: describeAs(
    signature,
    "The Ed25519 signature in base64url of `relay_id` and the decimal `timestamp`, without a space.",
  ),
  to: receiver,
  features: v.optional(features),
  incarnation: v.optional(count),
  position: describeAs(
    v.optional(StatedPositionSchema),
    "The account between the two relays in the books of the sender; absent if the receiver does not read it.",
  ),
});

/** The body of a heartbeat. */
export type Heartbeat = v.InferOutput<typeof HeartbeatSchema>;

/**
 * The end of a peering; `signature` is over the canonical JSON of the other members, `timestamp` in ms
 * since the epoch by the sender's clock.
 */
export const RemovalSchema = v.object({
  relay_id: uuid,
  timestamp,
  signature,
  to: receiver,
});

/** The body of a notice that ends the peering. */
export type Removal = v.InferOutput<typeof RemovalSchema>;

/** The answer to a removal. */
export const RemovalAnswerSchema = v.object({
  status: describeAs(v.literal("removed"), "Always `removed`: the peering has ended."),
});

/** The answer to a removal. */
export type RemovalAnswer = v.InferOutput<typeof RemovalAnswerSchema>;

/** The answer of `GET /federation/v1/peers`. */
export const PeerListSchema = v.object({
  peers: describeAs(v.array(PeerEntrySchema), "The peers of the relay, without removed ones."),
});
