import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { extensibleEnum } from "../../engine/extensible-enum.ts";
import { agentId, count, publicKey, shortText, timestamp } from "../../engine/fields.ts";

/** The codes with which a relay is refused as a peer. */
export const ADMISSION_CODES = [
  "peer.own_identity",
  "peer.blocked",
  "peer.not_allowed",
  "peer.exists",
  "peer.key_changed",
  "peer.limit_reached",
] as const;

export const PEER_STATES = ["pending", "active", "suspended", "removed"] as const;
export type PeerState = (typeof PEER_STATES)[number];

/** A peer as its relay shows it to the operator and to other peers; times in ms. */
export const PeerEntrySchema = v.object({
  relay_id: agentId,
  public_key: publicKey,
  endpoint_url: v.string(),
  display_name: shortText,
  state: describeAs(extensibleEnum(PEER_STATES), "The state of the peer."),
  trust_score: v.number(),
  agent_count: describeAs(count, "The number of agents that the peer reports."),
  last_heartbeat_at: v.nullable(timestamp),
  missed_heartbeats: describeAs(count, "The number of consecutive heartbeats that it missed."),
});
export type PeerEntry = v.InferInput<typeof PeerEntrySchema>;
