import { transactionTypes } from "@agent/budget";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { extensibleEnum } from "../../engine/extensible-enum.ts";
import {
  amount,
  endpointUrl,
  money,
  nextCursor,
  nonEmptyShortText,
  pageQuery,
  price,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { ADMISSION_CODES, PeerEntrySchema } from "./peer-entry.ts";
import { RelayEvent } from "./relay-events.ts";

/** A peer as the operator sees it; money in USD. */
export const FederationPeer = v.object({
  ...PeerEntrySchema.entries,
  /** The maximum that either side may owe the other. */
  credit_limit: money,
  /** The amount that this relay owes the peer; negative if the peer owes this relay. */
  position: money,
  /** The amount that open tasks forwarded to the peer may add. */
  reserved: money,
  /** The prices of results that it accepted and did not settle in time; counts as owed until cleared. */
  defaulted: v.optional(money),
  /** The latest forwards to it, at most ten: once most of them failed, the circuit opens. */
  forwards: v.optional(v.object({ latest: wholeNumber, failed: wholeNumber })),
  /** The features that it states in its signed identity. */
  features: v.optional(v.array(v.string())),
  /** Grows with every restore of its database; 0 if it states none. */
  incarnation: v.optional(wholeNumber),
  /** The tasks that went to it or came from it in the last 24 hours. */
  tasks_24h: v.optional(wholeNumber),
});
export type FederationPeer = v.InferInput<typeof FederationPeer>;

/** A movement of the account between this relay and a peer. */
const PeerPayment = v.object({
  at: wholeNumber,
  type: extensibleEnum(transactionTypes),
  /** Above 0 if this relay then owes the peer more. */
  amount: money,
  position_after: money,
  /** The task, or the reference of a payment that was made elsewhere. */
  reference: v.nullable(v.string()),
  description: v.nullable(v.string()),
});

const OutboxState = v.picklist(["pending", "completed", "failed"]);

/** A settlement that is delivered to a peer. */
export const OutboxEntry = v.object({
  settlement_id: v.string(),
  task_id: v.string(),
  relay_id: v.string(),
  agent_id: v.string(),
  amount: money,
  state: extensibleEnum(OutboxState.options),
  /** True if it failed and the hold was returned to the payer. */
  refunded: v.boolean(),
  attempts: wholeNumber,
  next_attempt_at: v.nullable(wholeNumber),
  last_error: v.nullable(v.string()),
  created_at: wholeNumber,
  ended_at: v.nullable(wholeNumber),
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
    summary: "Add the relay at an address as a peer by a handshake that this relay initiates.",
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
    summary: "List all peers, including removed ones, with the amounts owed.",
    section: "Operator",
    auth: "master",
    tier: "read",
    ok: { 200: v.object({ peers: v.array(FederationPeer) }) },
    refusals: ["federation.disabled"],
  }),
  setPeerCredit: defineOperation({
    method: "PUT",
    path: "/api/v1/admin/federation/peers/:relayId",
    summary: "Set the maximum that a peer and this relay may owe each other.",
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
    summary: "Remove a peer until the operator adds it again; the peer is notified.",
    section: "Operator",
    auth: "master",
    tier: "write",
    ok: { 200: v.object({ relay_id: v.string(), state: v.literal("removed") }) },
    refusals: ["federation.disabled", "peer.not_found"],
  }),
  clearPeerDefaults: defineOperation({
    method: "POST",
    path: "/api/v1/admin/federation/peers/:relayId/clear-defaults",
    summary: "Clear the defaulted amount of a peer, which then no longer counts as owed.",
    section: "Operator",
    auth: "master",
    tier: "write",
    body: v.object({ reason: nonEmptyShortText }),
    ok: { 200: v.object({ relay_id: v.string(), cleared: money, tasks: wholeNumber }) },
    refusals: ["federation.disabled", "peer.not_found"],
  }),
  settlePeer: defineOperation({
    method: "POST",
    path: "/api/v1/admin/federation/peers/:relayId/settle",
    summary: "Record a payment between the relays made elsewhere, once per `reference`.",
    section: "Operator",
    auth: "master",
    tier: "write",
    keyed: true,
    body: v.object({
      amount,
      direction: v.picklist(["sent", "received"]),
      reference: nonEmptyShortText,
    }),
    ok: {
      200: v.object({ relay_id: v.string(), position: money, idempotent: v.boolean() }),
    },
    refusals: ["federation.disabled", "peer.not_found", "clearing.limit_exceeded"],
  }),
  listPeerPayments: defineOperation({
    method: "GET",
    path: "/api/v1/admin/federation/peers/:relayId/payments",
    summary:
      "List the movements between this relay and a peer, newest first; their sum is the position.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object(pageQuery),
    ok: { 200: v.object({ payments: v.array(PeerPayment), next_cursor: nextCursor }) },
    refusals: ["federation.disabled", "peer.not_found", "request.invalid"],
  }),
  listPeerHistory: defineOperation({
    method: "GET",
    path: "/api/v1/admin/federation/peers/:relayId/history",
    summary:
      "List the changes of a peer's state and its missed heartbeats, newest first, of 7 days.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object(pageQuery),
    ok: { 200: v.object({ history: v.array(RelayEvent), next_cursor: nextCursor }) },
    refusals: ["federation.disabled", "peer.not_found", "request.invalid"],
  }),
  listOutbox: defineOperation({
    method: "GET",
    path: "/api/v1/admin/federation/outbox",
    summary: "List the settlements to be delivered to peers, newest first.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      state: describeAs(v.optional(OutboxState), "Only settlements in this state."),
      ...pageQuery,
    }),
    ok: { 200: v.object({ settlements: v.array(OutboxEntry), next_cursor: nextCursor }) },
    refusals: ["federation.disabled", "request.invalid"],
  }),
  retryOutbox: defineOperation({
    ...outboxOperation,
    method: "POST",
    path: "/api/v1/admin/federation/outbox/:settlementId/retry",
    summary: "Restart the delivery attempts of a settlement.",
  }),
  giveUpOutbox: defineOperation({
    ...outboxOperation,
    method: "POST",
    path: "/api/v1/admin/federation/outbox/:settlementId/give-up",
    summary: "Give up a failed settlement; the hold is returned to the payer.",
    keyed: true,
    body: v.object({ reason: nonEmptyShortText }),
  }),
} as const;
