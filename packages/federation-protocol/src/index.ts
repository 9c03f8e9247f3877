export {
  admitPeer,
  type AdmissionPolicy,
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
} from "./clearing.ts";
export { type Delivery, type DeliveryMeaning, meaningOf } from "./delivery.ts";
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
export { createHeartbeat, judgeHeartbeat, judgeNotice, type NoticeContext } from "./heartbeat.ts";
export {
  abandonReturn,
  acknowledged,
  beginReturn,
  type BookedTerms,
  endReturn,
  expireInbound,
  finishInbound,
  type InboundState,
  type InboundTask,
  isReturnDue,
  openInbound,
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
  beginForward,
  concludeRelayed,
  endForward,
  expireOutbound,
  isForwardDue,
  judgeResultOf,
  openOutbound,
  type OutboundState,
  type OutboundTask,
  payableOf,
  type ReceiptStatus,
  takeResult,
  voidOutbound,
} from "./outbound-task.ts";
export { isLive, isUsable, movePeer, NEW_PEER, type PeerEvent, type PeerLife } from "./peer.ts";
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
  RequestCode,
  ResultCode,
  SettlementCode,
} from "./refusals.ts";
export { REFUSAL_STATUS } from "./refusal-status.ts";
export { createRemoval, judgeRemoval } from "./removal.ts";
export {
  FEDERATION_HEADERS,
  readClaim,
  type RequestClaim,
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
  payableOfSettlement,
  redrive,
  type Resolution,
  type SettlementState,
} from "./settlement-outbox.ts";
export { readSignedMessage, readSignedMessageAsync } from "./signed-message.ts";
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
