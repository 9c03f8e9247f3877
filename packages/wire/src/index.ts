export { buildErrorBody, formatRefusal, refuse } from "./engine/refusal.ts";
export type { ErrorBody, Issue, Refusal } from "./engine/refusal.ts";
export { errors } from "./errors.ts";
export type { Code } from "./errors.ts";
export type { ErrorText } from "./errors/error-text.ts";
export { type Extensible, extensibleEnum, getEnumWords } from "./engine/extensible-enum.ts";
export { pathId } from "./engine/fields.ts";
export { limits } from "./engine/limits.ts";
export type { Tier } from "./engine/limits.ts";
export { isScopeGranted, scopes } from "./engine/operation.ts";
export type {
  Answer,
  AnswerHeaders,
  BodyOf,
  MediaAnswer,
  Operation,
  OperatorLevel,
  ParsedRequest,
  PathParams,
  PeerRefusal,
  QueryOf,
  Received,
  OperationRequest,
  Result,
  Scope,
  SuccessAnswer,
} from "./engine/operation.ts";
export { getOperatorLevel, isAudited } from "./engine/operator-level.ts";
export { operations } from "./operations.ts";
export type { OperationName, Operations } from "./operations.ts";
export { witnessOperations, type WitnessOperations } from "./operations/operator/witness.ts";
export { listImpliedRefusals } from "./engine/list-implied-refusals.ts";
export { buildOpenApi } from "./engine/openapi.ts";
export { createRedactor, isSecretName, REDACTED } from "./engine/redact.ts";
export { ClientMessage, ServerMessage, socketClose, SOCKET_PATH } from "./realtime.ts";
export { CapabilityPrice, Listing } from "./operations/agents/listings.ts";
export type { ListingBody } from "./operations/agents/listings.ts";
export { DiscoveryEntry, Freshness, TrustLevel } from "./operations/agents/registry.ts";
export { addArbitrationFee } from "./operations/money/add-arbitration-fee.ts";
export {
  toCapabilityPrices,
  getListedPrice,
  type PricedListing,
} from "./operations/money/get-listed-price.ts";
export {
  ListedStatus,
  ListedTask,
  RoutingChoice,
  Task,
  TaskEvent,
  TaskStatus,
} from "./operations/tasks/task.ts";
export { isPaidPrice, TASK_ORIGIN, TaskOrigin } from "./operations/tasks/task-origin.ts";
export { SubmitTaskBody } from "./operations/tasks/submit-task-body.ts";
export {
  AcceptanceTerms,
  InspectionCounts,
  OfferedAcceptance,
  WantedAcceptance,
} from "./operations/tasks/acceptance.ts";
export {
  Inspection,
  type InspectionRole,
  OperatorDecision,
} from "./operations/tasks/inspections.ts";
export { AccountSummary, Balance, Settlement, Transaction } from "./operations/money/budget.ts";
export { Statement } from "./operations/money/statement.ts";
export { Webhook, WebhookEvent } from "./operations/live/webhooks.ts";
export { Withdrawal, WithdrawalStatus } from "./operations/money/withdrawals.ts";
export { MarketCandidate } from "./operations/agents/market.ts";
export { RoutingRecord } from "./operations/tasks/routing.ts";
export { Visibility } from "./operations/agents/visibility.ts";
export { ConsoleSession } from "./operations/operator/console-sessions.ts";
export { Hold } from "./operations/operator/holds.ts";
export { OperatorAgent } from "./operations/operator/all-agents.ts";
export { OperatorAuditEntry } from "./operations/operator/operator-audit.ts";
export { OperatorTask } from "./operations/operator/all-tasks.ts";
export { RelayEvent } from "./operations/operator/relay-events.ts";
export { SERIES_METRICS, type SeriesMetric } from "./operations/operator/series.ts";
export { FreezeReport } from "./operations/operator/freeze.ts";
export { FederationPeer, OutboxEntry } from "./operations/operator/federation-admin.ts";
export { RelayProcess } from "./operations/operator/overview.ts";
export {
  ADMISSION_CODES,
  PEER_STATES,
  type PeerEntry,
  PeerEntrySchema,
  type PeerState,
} from "./operations/operator/peer-entry.ts";
export { KeyHistory } from "./operations/agents/keys.ts";
export { AgentState, AuditEntry, Goal } from "./operations/live/agent-state.ts";
export { Plan, type StepAllocation } from "./operations/live/plans.ts";
export { Conversation, Message } from "./operations/live/conversations.ts";
export type { NewMessage } from "./operations/live/conversations.ts";
export { AgentEvent } from "./operations/live/events.ts";
export type { NewEvent } from "./operations/live/events.ts";
export {
  Approval,
  type ApprovalBallot,
  ApprovalDecision,
  type ApprovalSubject,
  buildApprovalVote,
  buildLegacyApprovalVote,
  hashQuorum,
} from "./operations/tasks/approvals.ts";
export { Device } from "./operations/agents/devices.ts";
export { Pairing } from "./operations/agents/pairing.ts";
export { TrustRecord } from "./operations/agents/trust.ts";
export { ArchivedReceipt } from "./operations/proof/receipts.ts";
export { CredentialStatus, StoredCredential } from "./operations/agents/credentials.ts";
export {
  DELEGATION_EXTENSION,
  RpcAnswer,
  RpcCall,
  SendMessageParams,
  TaskIdParams,
} from "./operations/tasks/a2a.ts";
export { type Quorum, type QuorumApprover, verifyQuorum } from "./verify-quorum.ts";
export { sumUnpaidResults, type UnpaidResults } from "./unpaid-results.ts";
export { type SignedVote, verifyVote } from "./verify-vote.ts";
