import { ADMISSION_CODES } from "@agent/wire";
import { defineOperation, describeAs, id, pageQuery } from "@agent/wire/engine";
import * as v from "valibot";
import { DiscoverySchema, RemoteAgentSchema } from "../messages/discovery.ts";
import {
  ConfirmationAnswerSchema,
  ConfirmationSchema,
  ProposalAnswerSchema,
  ProposalSchema,
  RelayIdentitySchema,
} from "../messages/handshake.ts";
import {
  HeartbeatSchema,
  PeerListSchema,
  RemovalAnswerSchema,
  RemovalSchema,
} from "../messages/peer.ts";
import {
  SettlementAnswerSchema,
  SettlementForwardSchema,
  SettlementListSchema,
} from "../messages/settlement.ts";
import {
  TaskCancelAnswerSchema,
  TaskCancelSchema,
  TaskForwardAnswerSchema,
  TaskForwardSchema,
  TaskResultAnswerSchema,
  TaskResultSchema,
} from "../messages/task.ts";

/** A request without an id of its own is accepted once. */
const replayCodes = ["federation.replayed"] as const;

/**
 * The HTTP contract between relays, as rows beside those of `operations` of `@agent/wire`. All but
 * `relayIdentity` are signed by the headers `FEDERATION_HEADERS`.
 */
export const peerOperations = {
  relayIdentity: defineOperation({
    method: "GET",
    path: "/federation/v1/identity",
    summary: "Get this relay's identity, which another relay needs before it can peer.",
    section: "Federation",
    auth: "public",
    tier: "public",
    ok: { 200: RelayIdentitySchema },
    refusals: [],
  }),
  proposePeer: defineOperation({
    method: "POST",
    path: "/federation/v1/peer/propose",
    summary: "Propose a peering; the request is signed with the key in the body.",
    section: "Federation",
    auth: "peer",
    tier: "auth",
    body: ProposalSchema,
    ok: { 200: ProposalAnswerSchema },
    refusals: [
      "federation.peer_removed",
      ...ADMISSION_CODES,
      "peer.identity_mismatch",
      "federation.wrong_sender",
      ...replayCodes,
    ],
  }),
  confirmPeer: defineOperation({
    method: "POST",
    path: "/federation/v1/peer/confirm",
    summary: "Complete a handshake. Any failure aborts it.",
    section: "Federation",
    auth: "peer",
    tier: "auth",
    body: ConfirmationSchema,
    ok: { 200: ConfirmationAnswerSchema },
    refusals: [
      "peer.not_pending",
      "peer.identity_mismatch",
      "peer.challenge_invalid",
      "federation.peer_removed",
      "peer.limit_reached",
      ...replayCodes,
    ],
  }),
  peerHeartbeat: defineOperation({
    method: "POST",
    path: "/federation/v1/peer/heartbeat",
    summary: "Send a heartbeat; the response carries this relay's own.",
    section: "Federation",
    auth: "peer",
    tier: null,
    whileFrozen: true,
    body: HeartbeatSchema,
    ok: { 200: HeartbeatSchema },
    refusals: ["peer.timestamp_stale", "federation.wrong_sender"],
  }),
  removeSelf: defineOperation({
    method: "POST",
    path: "/federation/v1/peer/remove",
    summary: "End the peering as the calling peer.",
    section: "Federation",
    auth: "peer",
    tier: null,
    body: RemovalSchema,
    ok: { 200: RemovalAnswerSchema },
    refusals: ["peer.timestamp_stale", "federation.wrong_sender"],
  }),
  listPeers: defineOperation({
    method: "GET",
    path: "/federation/v1/peers",
    summary: "List the peers of this relay.",
    section: "Federation",
    auth: "peer",
    tier: null,
    ok: { 200: PeerListSchema },
    refusals: [...replayCodes],
  }),
  forwardDiscovery: defineOperation({
    method: "POST",
    path: "/federation/v1/discover",
    summary: "Search agents of this relay and, within `max_hops`, of its peers.",
    section: "Federation",
    auth: "peer",
    tier: null,
    body: DiscoverySchema,
    ok: {
      200: v.object({
        agents: describeAs(
          v.array(RemoteAgentSchema),
          "The agents of this relay that peers may see, and those that its peers report.",
        ),
      }),
    },
    refusals: ["peer.suspended"],
  }),
  forwardTask: defineOperation({
    method: "POST",
    path: "/federation/v1/task/forward",
    summary: "Forward a task to its executor's relay or to a relay on the path to it.",
    section: "Federation",
    auth: "peer",
    tier: null,
    body: TaskForwardSchema,
    ok: { 202: TaskForwardAnswerSchema },
    refusals: [
      "peer.suspended",
      "federation.wrong_sender",
      "forward.duplicate",
      "forward.id_taken",
      "forward.looped",
      "forward.expired",
      "forward.agent_not_found",
      "forward.key_mismatch",
      "forward.not_offered",
      "forward.underpaid",
      "task.too_deep",
      "clearing.limit_exceeded",
      "task.relay_full",
      "task.submitter_full",
    ],
  }),
  cancelForwardedTask: defineOperation({
    method: "POST",
    path: "/federation/v1/task/cancel",
    summary: "Cancel a forwarded task; the receiving relay signs the response.",
    section: "Federation",
    auth: "peer",
    tier: null,
    body: TaskCancelSchema,
    ok: { 200: TaskCancelAnswerSchema, 202: TaskCancelAnswerSchema },
    refusals: [
      "federation.wrong_sender",
      "cancel.task_not_found",
      "cancel.wrong_peer",
      "cancel.already_finished",
    ],
  }),
  returnResult: defineOperation({
    method: "POST",
    path: "/federation/v1/task/result",
    summary: "Return the receipt of a forwarded task with the relay's attestation.",
    section: "Federation",
    auth: "peer",
    tier: null,
    body: TaskResultSchema,
    ok: { 200: TaskResultAnswerSchema, 202: TaskResultAnswerSchema },
    refusals: [
      "federation.wrong_sender",
      "result.task_not_found",
      "result.wrong_peer",
      "result.already_finished",
      "result.key_mismatch",
      "result.receipt_invalid",
      "result.attestation_invalid",
    ],
  }),
  forwardSettlement: defineOperation({
    method: "POST",
    path: "/federation/v1/settlement/forward",
    summary: "Settle a forwarded task; the receiver books its fee and pays the agent once.",
    section: "Federation",
    auth: "peer",
    tier: null,
    body: SettlementForwardSchema,
    ok: { 200: SettlementAnswerSchema },
    refusals: [
      "federation.wrong_sender",
      "clearing.limit_exceeded",
      "settlement.not_owed",
      "settlement.not_completed",
      "settlement.already_settled",
      "settlement.amount_mismatch",
      "settlement.receipt_mismatch",
    ],
  }),
  listBooked: defineOperation({
    method: "GET",
    path: "/federation/v1/settlements",
    summary: "List the calling peer's settlements that this relay has booked, newest first.",
    section: "Federation",
    auth: "peer",
    tier: null,
    query: v.object({ task_id: v.optional(id), limit: pageQuery.limit }),
    ok: { 200: SettlementListSchema },
    refusals: [...replayCodes],
  }),
} as const;

/** The type of `peerOperations`. */
export type PeerOperations = typeof peerOperations;
