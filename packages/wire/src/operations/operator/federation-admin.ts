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
  paymentReference,
  price,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { ADMISSION_CODES, PeerEntrySchema } from "./peer-entry.ts";
import { RelayEvent } from "./relay-events.ts";

/** A peer as the operator sees it; money in USD. */
export const FederationPeer = v.object({
  ...PeerEntrySchema.entries,
  credit_limit: describeAs(money, "The maximum that either side may owe the other, in USD."),
  position: describeAs(
    money,
    "The amount in USD that this relay owes the peer; negative if the peer owes this relay.",
  ),
  reserved: describeAs(money, "The amount that open tasks forwarded to the peer may add, in USD."),
  defaulted: describeAs(
    v.optional(money),
    "The prices in USD of results that it accepted and did not settle in time; counts as owed until cleared.",
  ),
  undecided: describeAs(
    v.optional(money),
    "The prices in USD of results that it did not answer or settle before their holds expired; uses up its credit until it does.",
  ),
  refused: describeAs(
    v.optional(money),
    "The prices in USD of results that it refused when they may have been too late; what exceeds the limit uses up its credit until cleared.",
  ),
  forwards: describeAs(
    v.optional(
      v.object({
        latest: describeAs(wholeNumber, "The number of the latest forwards, at most ten."),
        failed: describeAs(wholeNumber, "The number of those that failed."),
      }),
    ),
    "The latest forwards to it; it is suspended once most of at least six, and the last three, failed.",
  ),
  features: describeAs(
    v.optional(v.array(v.string())),
    "The features that it last named under its signature and that this relay knows.",
  ),
  incarnation: describeAs(
    v.optional(wholeNumber),
    "POSIX seconds of the latest restore of its database from a backup, as it reports; 0 if there was none.",
  ),
  tasks_24h: describeAs(
    v.optional(wholeNumber),
    "The number of tasks that went to it or came from it in the last 24 hours.",
  ),
});
export type FederationPeer = v.InferInput<typeof FederationPeer>;

/** A movement of the account between this relay and a peer. */
const PeerPayment = v.object({
  at: wholeNumber,
  type: describeAs(extensibleEnum(transactionTypes), "The kind of movement."),
  amount: describeAs(money, "The amount in USD, above 0 if this relay then owes the peer more."),
  position_after: describeAs(money, "The position after this movement, in USD."),
  reference: describeAs(
    v.nullable(v.string()),
    "The task, or the reference of a payment that was made elsewhere; null if there is none.",
  ),
  description: describeAs(
    v.nullable(v.string()),
    "A text about the movement; null if there is none.",
  ),
});

const OutboxState = v.picklist(["pending", "completed", "failed"]);

/** A settlement that is delivered to a peer. */
export const OutboxEntry = v.object({
  settlement_id: v.string(),
  task_id: v.string(),
  relay_id: describeAs(v.string(), "The id of the peer."),
  agent_id: v.string(),
  amount: money,
  state: describeAs(extensibleEnum(OutboxState.options), "The state of the delivery."),
  refunded: describeAs(v.boolean(), "True if it failed and the hold was returned to the payer."),
  attempts: describeAs(wholeNumber, "The number of attempts so far."),
  next_attempt_at: v.nullable(wholeNumber),
  last_error: describeAs(
    v.nullable(v.string()),
    "The reason why the last attempt failed; null if there is none.",
  ),
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
    ok: { 200: v.object({ peers: describeAs(v.array(FederationPeer), "The peers.") }) },
    refusals: ["federation.disabled"],
  }),
  setPeerCredit: defineOperation({
    method: "PUT",
    path: "/api/v1/admin/federation/peers/:relayId",
    summary: "Set the maximum that a peer and this relay may owe each other.",
    section: "Operator",
    auth: "master",
    tier: "write",
    body: v.object({
      credit_limit: describeAs(price, "The maximum that either side may owe the other, in USD."),
    }),
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
    ok: {
      200: v.object({
        relay_id: v.string(),
        state: describeAs(v.literal("removed"), "Always `removed`."),
      }),
    },
    refusals: ["federation.disabled", "peer.not_found"],
  }),
  clearPeerDefaults: defineOperation({
    method: "POST",
    path: "/api/v1/admin/federation/peers/:relayId/clear-defaults",
    summary:
      "Clear the defaulted and refused amounts of a peer, which then no longer use up its credit.",
    section: "Operator",
    auth: "master",
    tier: "write",
    body: v.object({ reason: describeAs(nonEmptyShortText, "The reason.") }),
    ok: {
      200: v.object({
        relay_id: v.string(),
        cleared: describeAs(money, "The amount that no longer uses up its credit, in USD."),
        tasks: describeAs(wholeNumber, "The number of tasks that it came from."),
      }),
    },
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
      amount: describeAs(amount, "The amount that was paid, in USD."),
      direction: describeAs(
        v.picklist(["sent", "received"]),
        "Whether this relay `sent` or `received` the payment.",
      ),
      reference: describeAs(
        paymentReference,
        "The reference of the payment; one that was already recorded changes nothing. It must have no leading or trailing white space and be in Unicode form C.",
      ),
    }),
    ok: {
      200: v.object({
        relay_id: v.string(),
        position: money,
        idempotent: describeAs(v.boolean(), "Whether the `reference` was recorded before."),
      }),
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
    ok: {
      200: v.object({
        payments: describeAs(v.array(PeerPayment), "The movements, newest first."),
        next_cursor: nextCursor,
      }),
    },
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
    ok: {
      200: v.object({
        history: describeAs(v.array(RelayEvent), "The changes, newest first."),
        next_cursor: nextCursor,
      }),
    },
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
    ok: {
      200: v.object({
        settlements: describeAs(v.array(OutboxEntry), "The settlements, newest first."),
        next_cursor: nextCursor,
      }),
    },
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
    body: v.object({ reason: describeAs(nonEmptyShortText, "The reason.") }),
  }),
} as const;
