import * as v from "valibot";
import { extensibleEnum } from "../../engine/extensible-enum.ts";
import {
  amount,
  endpointUrl,
  money,
  nextCursor,
  pageQuery,
  price,
  shortText,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { ADMISSION_CODES, PeerEntrySchema } from "./peer-entry.ts";

/** A peer as the operator sees it; money in USD. */
export const FederationPeer = v.object({
  ...PeerEntrySchema.entries,
  /** The most that either side may come to owe the other. */
  credit_limit: money,
  /** What this relay owes the peer; below 0 what the peer owes. */
  position: money,
  /** What tasks that are under way to the peer may add. */
  reserved: money,
  /** What it accepted results for and did not settle in time; it counts as owed until cleared. */
  defaulted: v.optional(money),
  /** What it can do, by its own signed word. */
  features: v.optional(v.array(v.string())),
  /** Grows with every restore of its database; 0 where it named none. */
  incarnation: v.optional(v.number()),
});
export type FederationPeer = v.InferInput<typeof FederationPeer>;

const OutboxState = v.picklist(["pending", "completed", "failed"]);

/** A settlement on its way to a peer. */
export const OutboxEntry = v.object({
  settlement_id: v.string(),
  task_id: v.string(),
  relay_id: v.string(),
  agent_id: v.string(),
  amount: money,
  state: extensibleEnum(OutboxState.options),
  /** Failed, and the hold went back to whoever paid. */
  refunded: v.boolean(),
  attempts: v.number(),
  next_attempt_at: v.nullable(v.number()),
  last_error: v.nullable(v.string()),
  created_at: v.number(),
  ended_at: v.nullable(v.number()),
});
export type OutboxEntry = v.InferInput<typeof OutboxEntry>;

const outboxOperation = {
  section: "Operator",
  auth: "master",
  tier: "write",
  ok: { 200: OutboxEntry },
  refusals: ["federation.disabled", "outbox.not_found", "outbox.not_open"],
} as const;

export const federationAdmin = {
  addPeer: defineOperation({
    method: "POST",
    path: "/api/v1/admin/federation/peers",
    summary: "Peer with the relay at an address: the whole handshake, from this side.",
    section: "Operator",
    auth: "master",
    tier: "write",
    body: v.object({ endpoint_url: endpointUrl }),
    ok: { 200: FederationPeer },
    refusals: [
      "federation.disabled",
      ...ADMISSION_CODES,
      "peer.identity_mismatch",
      "peer.challenge_invalid",
      "peer.unreachable",
      "peer.refused",
    ],
  }),
  listFederationPeers: defineOperation({
    method: "GET",
    path: "/api/v1/admin/federation/peers",
    summary: "All peers, removed ones included, with what is owed.",
    section: "Operator",
    auth: "master",
    tier: "read",
    ok: { 200: v.object({ peers: v.array(FederationPeer) }) },
    refusals: ["federation.disabled"],
  }),
  setPeerCredit: defineOperation({
    method: "PUT",
    path: "/api/v1/admin/federation/peers/:relayId",
    summary: "Say how much a peer and this relay may come to owe each other.",
    section: "Operator",
    auth: "master",
    tier: "write",
    body: v.object({ credit_limit: price }),
    ok: { 200: FederationPeer },
    refusals: ["federation.disabled", "peer.not_found"],
  }),
  removePeer: defineOperation({
    method: "DELETE",
    path: "/api/v1/admin/federation/peers/:relayId",
    summary: "End a peering until the operator adds the peer again; the peer is told.",
    section: "Operator",
    auth: "master",
    tier: "write",
    ok: { 200: v.object({ relay_id: v.string(), state: v.literal("removed") }) },
    refusals: ["federation.disabled", "peer.not_found"],
  }),
  clearPeerDefaults: defineOperation({
    method: "POST",
    path: "/api/v1/admin/federation/peers/:relayId/clear-defaults",
    summary: "No longer count as owed what a peer did not settle in time.",
    section: "Operator",
    auth: "master",
    tier: "write",
    body: v.object({ reason: v.pipe(shortText, v.minLength(1, "must be non-empty")) }),
    ok: { 200: v.object({ relay_id: v.string(), cleared: money, tasks: v.number() }) },
    refusals: ["federation.disabled", "peer.not_found"],
  }),
  settlePeer: defineOperation({
    method: "POST",
    path: "/api/v1/admin/federation/peers/:relayId/settle",
    summary: "Record what relays paid each other outside, once per reference.",
    section: "Operator",
    auth: "master",
    tier: "write",
    keyed: true,
    body: v.object({
      amount,
      direction: v.picklist(["sent", "received"]),
      reference: v.pipe(shortText, v.minLength(1, "has to be non-empty")),
    }),
    ok: {
      200: v.object({ relay_id: v.string(), position: money, idempotent: v.boolean() }),
    },
    refusals: ["federation.disabled", "peer.not_found", "clearing.limit_exceeded"],
  }),
  listOutbox: defineOperation({
    method: "GET",
    path: "/api/v1/admin/federation/outbox",
    summary: "Settlements on their way to peers, newest first.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({ state: v.optional(OutboxState), ...pageQuery }),
    ok: { 200: v.object({ settlements: v.array(OutboxEntry), next_cursor: nextCursor }) },
    refusals: ["federation.disabled", "request.invalid"],
  }),
  retryOutbox: defineOperation({
    ...outboxOperation,
    method: "POST",
    path: "/api/v1/admin/federation/outbox/:settlementId/retry",
    summary: "Begin the attempts of a settlement anew.",
  }),
  giveUpOutbox: defineOperation({
    ...outboxOperation,
    method: "POST",
    path: "/api/v1/admin/federation/outbox/:settlementId/give-up",
    summary: "End a settlement that failed: the hold goes back to whoever paid.",
    keyed: true,
    body: v.object({ reason: v.pipe(shortText, v.minLength(1, "has to be non-empty")) }),
  }),
} as const;
