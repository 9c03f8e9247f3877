export {
  type ResultAcceptance,
  ResultAcceptanceSchema,
  createResultAcceptance,
  parseResultAcceptance,
} from "./signing/result-acceptance.ts";
export {
  checkAdmission,
  checkProposalAdmission,
  type AdmissionPolicy,
  computeCreditAfterHandshake,
  selectInitialCreditLimit,
  type AdmissionInput,
} from "./peering/admission.ts";
export {
  type ForwardHistory,
  isCircuitOpen,
  recordForwardOutcome,
} from "./peering/circuit-breaker.ts";
export {
  buildInboundHold,
  buildInboundPayment,
  buildInboundForwarding,
  buildInboundRelease,
  buildOutboundPayment,
  buildExternalPayment,
  buildForwardedPayment,
} from "./settlement/clearing-postings.ts";
export {
  type ClearingLine,
  getExposure,
  checkExternalPayment,
  checkReceivable,
  checkPayable,
  type PeerDebt,
} from "./settlement/clearing.ts";
export { type Delivery, type DeliveryOutcome, classifyDelivery } from "./delivery/delivery.ts";
export type { AgentClaim, ClaimedAgent } from "./discovery/claims.ts";
export { findClaimWithKey, isOwnClaim, resolveClaims } from "./discovery/claims.ts";
export { boundSuccessions } from "./discovery/agent-succession.ts";
export {
  isReachable,
  type KnownAgent,
  mergeEntries,
  type PeerAttributes,
  type ReachableAgent,
  parseEntries,
  toRemoteAgent,
} from "./discovery/entries.ts";
export { createQuery, listUnvisitedPeers, planQuery, type QueryPlan } from "./discovery/query.ts";
export { type CrossRelayRoute, toRelayNode, listRelays, buildRoute } from "./discovery/route.ts";
export { type EnvelopeContext, checkEnvelope } from "./signing/envelope.ts";
export { FEDERATION_FEATURES, type FederationFeature, supportsFeature } from "./features.ts";
export {
  computeMinPayment,
  type SettlementTerms,
  computeTerms,
} from "./settlement/settlement-terms.ts";
export { isFresh } from "./freshness.ts";
export {
  checkProposalAnswer,
  checkConfirmationAnswer,
  type ConfirmingState,
  createProposal,
  type ProposedState,
} from "./peering/initiator.ts";
export type { RelayDescription } from "./peering/relay-description.ts";
export {
  buildProposalAnswer,
  isProposalExpired,
  checkConfirmation,
  type PendingPeer,
} from "./peering/responder.ts";
export {
  getHeartbeatClaims,
  createHeartbeat,
  type HeartbeatClaims,
  verifyHeartbeat,
  checkNotice,
  type NoticeContext,
} from "./peering/heartbeat.ts";
export {
  abandonReturn,
  acknowledgeReturn,
  awaitLateSettlement,
  beginReturn,
  type BookedTerms,
  clearDefault,
  getDefaultedAmount,
  endReturn,
  expireInbound,
  finishInbound,
  type InboundState,
  type InboundTask,
  isHoldPending,
  isInboundClosed,
  isReturnDue,
  createInbound,
  resumeInbound,
  voidInbound,
} from "./forwarding/inbound-task.ts";
export { FEDERATION_LIMITS } from "./limits.ts";
export {
  type AgentQuery,
  AgentQuerySchema,
  type Discovery,
  type DiscoveryAnswer,
  DiscoveryAnswerSchema,
  DiscoverySchema,
  type RemoteAgent,
  RemoteAgentSchema,
} from "./messages/discovery.ts";
export {
  type Confirmation,
  type ConfirmationAnswer,
  ConfirmationAnswerSchema,
  ConfirmationSchema,
  type Proposal,
  type ProposalAnswer,
  ProposalAnswerSchema,
  ProposalSchema,
  type RelayIdentity,
  RelayIdentitySchema,
} from "./messages/handshake.ts";
export {
  type Heartbeat,
  HeartbeatSchema,
  PeerListSchema,
  type Removal,
  type RemovalAnswer,
  RemovalAnswerSchema,
  RemovalSchema,
  type StatedPosition,
  StatedPositionSchema,
} from "./messages/peer.ts";
export {
  type BookedSettlement,
  BookedSettlementSchema,
  type ReportedSettlements,
  ReportedSettlementsSchema,
  type SettlementAnswer,
  SettlementAnswerSchema,
  type SettlementForward,
  SettlementForwardSchema,
  type SettlementList,
  SettlementListSchema,
} from "./messages/settlement.ts";
export {
  type TaskCancel,
  type TaskCancelAnswer,
  TaskCancelAnswerSchema,
  TaskCancelSchema,
  type TaskForward,
  type TaskForwardAnswer,
  TaskForwardAnswerSchema,
  TaskForwardSchema,
  type TaskPayload,
  TaskPayloadSchema,
  type TaskResult,
  type TaskResultAnswer,
  TaskResultAnswerSchema,
  TaskResultSchema,
} from "./messages/task.ts";
export { ReplayCache } from "./replay-cache.ts";
export {
  countPassedHops,
  countPassedHopsAsync,
  listEarlierRelays,
  type HopContext,
} from "./forwarding/passed-hops.ts";
export {
  beginForward,
  completeRelayed,
  endForward,
  expireOutbound,
  isForwardDue,
  checkResultState,
  isOutboundOpen,
  createOutbound,
  type OutboundState,
  type OutboundTask,
  getPayable,
  postponeOutbound,
  type ReceiptStatus,
  releasePayable,
  applyResult,
  voidOutbound,
} from "./forwarding/outbound-task.ts";
export {
  updatePeerPin,
  listPinnedKeys,
  type PeerPin,
  type ReportedKey,
} from "./peering/peer-key.ts";
export {
  isLive,
  isRemovedByOperator,
  isUsable,
  applyPeerEvent,
  NEW_PEER,
  type OperatorRemoval,
  type PeerEvent,
  type PeerRecord,
} from "./peering/peer.ts";
export {
  comparePositions,
  type OwnPosition,
  type Position,
  parsePosition,
  toPositionMessage,
} from "./settlement/position.ts";
export { parseMessage } from "./parse-message.ts";
export type {
  AdmissionCode,
  CancelCode,
  ClearingCode,
  FederationCode,
  FederationRefusal,
  ForwardCode,
  HandshakeCode,
  PeerCode,
  RemovedCode,
  RequestCode,
  ResultCode,
  SettlementCode,
} from "./refusals.ts";
export { REFUSAL_STATUS } from "./refusal-status.ts";
export { createRemoval, verifyRemoval } from "./peering/removal.ts";
export {
  isAnswerSigned,
  parseRequestClaim,
  type RequestClaim,
  signAnswer,
  type SignedRequest,
  signRequest,
  type VerifyRequestResult,
  verifyRequest,
  verifyRequestAsync,
} from "./signing/request-signature.ts";
export { type RetrySchedule, createRetrySchedule } from "./delivery/retry-schedule.ts";
export {
  type AcceptedSettlement,
  createSettlementForward,
  checkSettlement,
  type SettlementContext,
} from "./settlement/settlement-forward.ts";
export {
  beginAsk,
  beginAttempt,
  endAsk,
  endAttempt,
  refundHeldSettlement,
  getNextStep,
  createOutgoingSettlement,
  type OutgoingSettlement,
  isSettlementResolved,
  getSettlementPayable,
  repeatPaidSettlement,
  redriveSettlement,
  type Resolution,
  type SettlementState,
  type X402Reference,
} from "./settlement/settlement-outbox.ts";
export { verifySignedMessage, verifySignedMessageAsync } from "./signing/signed-message.ts";
export {
  checkNestedReceipt,
  type EndableTask,
  type EndedBy,
  canEndTask,
  type NestedReceipt,
  type NestedRefusal,
  type NestedTask,
} from "./forwarding/task-end.ts";
export {
  acceptWallClock,
  type ClockJump,
  type ClockReading,
  type ClockState,
  advanceClock,
  createClock,
} from "./delivery/steady-clock.ts";
export {
  createTaskForward,
  type ForwardContext,
  type TaskForwardInput,
  checkForward,
} from "./forwarding/task-forward.ts";
export {
  type ResultContext,
  type VerifiedResult,
  verifyResult,
  verifyResultAsync,
} from "./forwarding/task-result.ts";
export {
  beginCancel,
  type CheckCancelResult,
  type CancelOutcome,
  checkCancel,
  endCancel,
  isCancelDue,
  parseCancelAnswer,
  requestCancel,
  signCancelAnswer,
} from "./forwarding/task-cancel.ts";
export { FEDERATION_HEADERS } from "@agent/wire/engine";
export { PEER_STATES, type PeerEntry, PeerEntrySchema, type PeerState } from "@agent/wire";
