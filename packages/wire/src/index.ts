export { buildErrorBody, errors, formatRefusal, refuse } from "./errors.ts";
export type { Code, ErrorBody, ErrorText, Issue, Refusal } from "./errors.ts";
export { extensibleEnum, getEnumWords } from "./fields.ts";
export { limits } from "./limits.ts";
export type { Tier } from "./limits.ts";
export { scopes } from "./operation.ts";
export type {
  Answer,
  AnswerHeaders,
  BodyOf,
  MediaAnswer,
  Operation,
  ParsedRequest,
  PathParams,
  PeerRefusal,
  QueryOf,
  Received,
  OperationRequest,
  Result,
  Scope,
  SuccessAnswer,
} from "./operation.ts";
export { operations } from "./operations.ts";
export type { OperationName, Operations } from "./operations.ts";
export { listImpliedRefusals } from "./implied-refusals.ts";
export { buildOpenApi } from "./openapi.ts";
export { createRedactor, isSecretName, REDACTED } from "./redact.ts";
export { ClientMessage, ServerMessage, socketClose, SOCKET_PATH } from "./realtime.ts";
export { CapabilityPrice, DiscoveryEntry, Freshness, Listing, TrustLevel } from "./registry.ts";
export type { ListingBody } from "./registry.ts";
export { toCapabilityPrices, getListedPrice, type PricedListing } from "./listing-price.ts";
export {
  ListedStatus,
  ListedTask,
  RoutingChoice,
  SubmitTaskBody,
  Task,
  TaskEvent,
  TaskStatus,
} from "./tasks.ts";
export { AccountSummary, Balance, Settlement, Transaction } from "./budget.ts";
export { Statement } from "./statement.ts";
export { Webhook, WebhookEvent } from "./webhooks.ts";
export { Withdrawal, WithdrawalStatus } from "./withdrawals.ts";
export { MarketCandidate } from "./market.ts";
export { RoutingRecord } from "./routing.ts";
export { Visibility } from "./visibility.ts";
export { FederationPeer, OutboxEntry } from "./federation-admin.ts";
export { FEDERATION_PREFIX } from "./federation.ts";
export { KeyHistory } from "./keys.ts";
export { AgentState, AuditEntry, Goal } from "./agent-state.ts";
export { Plan, type StepAllocation } from "./plans.ts";
export { Conversation, Message } from "./conversations.ts";
export type { NewMessage } from "./conversations.ts";
export { AgentEvent } from "./events.ts";
export type { NewEvent } from "./events.ts";
export {
  Approval,
  type ApprovalBallot,
  ApprovalDecision,
  type ApprovalSubject,
  buildApprovalVote,
  buildLegacyApprovalVote,
  hashQuorum,
} from "./approvals.ts";
export { Device } from "./devices.ts";
export { Pairing } from "./pairing.ts";
export { TrustRecord } from "./trust.ts";
export { ArchivedReceipt } from "./receipts.ts";
export { CredentialStatus, StoredCredential } from "./credentials.ts";
export {
  DELEGATION_EXTENSION,
  RpcAnswer,
  RpcCall,
  SendMessageParams,
  TaskIdParams,
} from "./a2a.ts";
export { type Quorum, type QuorumApprover, verifyQuorum } from "./verify-quorum.ts";
export { type SignedVote, verifyVote } from "./verify-vote.ts";
