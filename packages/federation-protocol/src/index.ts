export { type Accepted, AcceptedSchema, createAccepted, readAccepted } from "./accepted.ts";
export {
  admitPeer,
  admitProposal,
  type AdmissionPolicy,
  creditAfterHandshake,
  initialCreditLimit,
  type PeerStanding,
} from "./admission.ts";
export { type ForwardHistory, isBroken, recordForward } from "./circuit-breaker.ts";
export {
  inboundHold,
  inboundPaid,
  inboundPassed,
  inboundRelease,
  outboundPaid,
  outsidePayment,
  passedOn,
} from "./clearing-postings.ts";
export {
  type ClearingLine,
  exposureOf,
  judgeOutsidePayment,
  mayBeOwed,
  mayOwe,
  type PeerDebt,
} from "./clearing.ts";
export { type Delivery, type DeliveryMeaning, meaningOf } from "./delivery.ts";
export type { AgentClaim, ClaimedAgent } from "./discovery/claims.ts";
export { claimUnder, isOwnClaim, judgeClaims } from "./discovery/claims.ts";
export { boundSuccessions } from "./discovery/agent-succession.ts";
export {
  isReachable,
  type KnownAgent,
  mergeEntries,
  type PeerFigures,
  type ReachableAgent,
  takeEntries,
  toAnswer,
} from "./discovery/entries.ts";
export { beginQuery, peersToAsk, planQuery, type QueryPlan } from "./discovery/query.ts";
export { type CrossRelayRoute, relayNode, relaysOf, routeTo } from "./discovery/route.ts";
export { type EnvelopeContext, judgeEnvelope } from "./envelope.ts";
export { type Extensible, extensibleEnum, wordsOf } from "./extensible-enum.ts";
export { FEDERATION_FEATURES, type FederationFeature, supports } from "./features.ts";
export { leastPayment, type Terms, termsOf } from "./fee.ts";
export { isFresh } from "./freshness.ts";
export {
  answerProposal,
  concludeHandshake,
  type Confirming,
  propose,
  type Proposed,
} from "./handshake/initiator.ts";
export type { Introduction } from "./handshake/introduction.ts";
export {
  answerToProposal,
  hasLapsed,
  judgeConfirmation,
  type PendingPeer,
} from "./handshake/responder.ts";
export {
  claimsOf,
  createHeartbeat,
  type HeartbeatClaims,
  judgeHeartbeat,
  judgeNotice,
  type NoticeContext,
} from "./heartbeat.ts";
export {
  abandonReturn,
  acknowledged,
  awaitLateSettlement,
  beginReturn,
  type BookedTerms,
  clearDefault,
  defaultedAmount,
  endReturn,
  expireInbound,
  finishInbound,
  type InboundState,
  type InboundTask,
  isHoldPending,
  isInboundOver,
  isReturnDue,
  openInbound,
  resumeInbound,
  voidInbound,
} from "./inbound-task.ts";
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
  PEER_STATES,
  type PeerEntry,
  PeerEntrySchema,
  PeerListSchema,
  type PeerState,
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
export { OnceWithin } from "./once-within.ts";
export {
  countPassedHops,
  countPassedHopsAsync,
  earlierRelays,
  type HopContext,
} from "./passed-hops.ts";
export {
  beginForward,
  concludeRelayed,
  endForward,
  expireOutbound,
  isForwardDue,
  judgeResultOf,
  isOutboundOpen,
  openOutbound,
  type OutboundState,
  type OutboundTask,
  payableOf,
  postponeOutbound,
  type ReceiptStatus,
  releasePayable,
  takeResult,
  voidOutbound,
} from "./outbound-task.ts";
export { followKey, keysOfPin, type PeerPin, type StatedKey } from "./peer-key.ts";
export {
  isLive,
  isRemovedByOperator,
  isUsable,
  movePeer,
  NEW_PEER,
  type OperatorRemoval,
  type PeerEvent,
  type PeerLife,
} from "./peer.ts";
export {
  comparePositions,
  type OwnPosition,
  type Position,
  readPosition,
  statePosition,
} from "./position.ts";
export { readMessage } from "./read-message.ts";
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
export { createRemoval, judgeRemoval } from "./removal.ts";
export {
  answerIsSigned,
  FEDERATION_HEADERS,
  readClaim,
  type RequestClaim,
  signAnswer,
  type SignedRequest,
  signRequest,
  type VerifiedRequest,
  verifyRequest,
  verifyRequestAsync,
} from "./request-signature.ts";
export { type RetrySchedule, retrySchedule } from "./retry-schedule.ts";
export {
  type AcceptedSettlement,
  createSettlement,
  judgeSettlement,
  type SettlementContext,
} from "./settlement-forward.ts";
export {
  beginAsk,
  beginAttempt,
  endAsk,
  endAttempt,
  giveUp,
  nextStep,
  openSettlement,
  type OutgoingSettlement,
  isSettlementOver,
  payableOfSettlement,
  repeatPaid,
  redrive,
  type Resolution,
  type SettlementState,
  type X402Reference,
} from "./settlement-outbox.ts";
export { readSignedMessage, readSignedMessageAsync } from "./signed-message.ts";
export {
  checkNestedReceipt,
  type EndableTask,
  type EndedBy,
  mayEndTask,
  type NestedReceipt,
  type NestedRefusal,
  type NestedTask,
} from "./task-end.ts";
export {
  acceptWallClock,
  type ClockJump,
  type ClockReading,
  type ClockState,
  readClock,
  startClock,
} from "./steady-clock.ts";
export {
  createForward,
  type ForwardContext,
  type ForwardOrder,
  judgeForward,
} from "./task-forward.ts";
export {
  type ResultContext,
  type VerifiedResult,
  verifyResult,
  verifyResultAsync,
} from "./task-result.ts";
export {
  beginCancel,
  type CancelFinding,
  type CancelMeaning,
  checkCancel,
  endCancel,
  isCancelDue,
  readCancelAnswer,
  requestCancel,
  signCancelAnswer,
} from "./task-cancel.ts";
