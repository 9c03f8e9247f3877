import type { FreezeRow, IncarnationRow } from "./tables/admin.ts";
import type {
  AgentCapabilityRow,
  AgentKeyRow,
  CapabilityCountRow,
  KeyProofRow,
  ListingRow,
  StoredDeviceRow,
  StoredAgentRow,
} from "./tables/agents.ts";
import type { ApprovalRow, ApprovalVoteRow } from "./tables/approvals.ts";
import type { AuditEntryRow } from "./tables/audit.ts";
import type {
  AccountRow,
  DepositReferenceRow,
  PostingRow,
  SettlementRow,
  WithdrawalRow,
} from "./tables/budget.ts";
import type { ClockRow } from "./tables/clock.ts";
import type { CredentialRow } from "./tables/credentials.ts";
import type {
  FederationAgentKeyRow,
  FederationHoldRow,
  FederationInboundRow,
  FederationOutboundRow,
  FederationOutboxRow,
  FederationPaymentRow,
  FederationPeerRow,
} from "./tables/federation.ts";
import type { IdempotencyKeyRow } from "./tables/http.ts";
import type { RelayIdentityRow, RelaySuccessionRow, SpentTokenRow } from "./tables/identity.ts";
import type { InspectionCountRow, InspectionRow } from "./tables/inspections.ts";
import type { LedgerRow } from "./tables/ledger.ts";
import type {
  LogEntryRow,
  LogHeadRow,
  LogIndexRow,
  LogSegmentEntryRow,
  LogSegmentRow,
  LogStateRow,
  LogTileRow,
} from "./tables/log.ts";
import type {
  ConsoleCodeRow,
  ConsoleSessionRow,
  EndedTasksRow,
  EventCounterRow,
  ExpiredTaskRow,
  OnlineSpanRow,
  OnlineWatchRow,
  QueuedEventRow,
  RelayEventRow,
  RelayMinuteRow,
  TaskParentRow,
} from "./tables/operator.ts";
import type { PairingRow } from "./tables/pairing.ts";
import type {
  CardCheckoutRow,
  CardDisputeRow,
  CardReversalRow,
  X402PaymentRow,
} from "./tables/payments.ts";
import type {
  ChangeRow,
  LeaseRow,
  PendingPeerRow,
  ShownOfferRow,
  PresenceRow,
  ProcessRow,
  SeenRow,
} from "./tables/processes.ts";
import type { AgentEventRow, ConversationRow, MessageRow, PlanRow } from "./tables/records.ts";
import type { RoutingDecisionRow } from "./tables/routing.ts";
import type {
  DelegationBudgetRow,
  NestedReceiptRow,
  NoShowRow,
  ReceiptRow,
  ManagedTaskRow,
  TaskCounterRow,
  TaskEventRow,
} from "./tables/tasks.ts";
import type {
  AgentHistoryRow,
  KeySharerRow,
  TrustRecordRow,
  TrustThresholdsRow,
} from "./tables/trust.ts";
import type { WebhookDeliveryRow, WebhookRow } from "./tables/webhooks.ts";
import type { PeerWitnessRow, WitnessedRow, WitnessEvidenceRow } from "./tables/witness.ts";

/** The types of the stored rows, one file per feature. The migrations define the schema. */
export interface Tables {
  relay_identity: RelayIdentityRow;
  relay_successions: RelaySuccessionRow;
  agents: StoredAgentRow;
  agent_keys: AgentKeyRow;
  key_proofs: KeyProofRow;
  devices: StoredDeviceRow;
  agent_capabilities: AgentCapabilityRow;
  listings: ListingRow;
  tasks: ManagedTaskRow;
  task_events: TaskEventRow;
  task_counters: TaskCounterRow;
  no_shows: NoShowRow;
  receipts: ReceiptRow;
  nested_receipts: NestedReceiptRow;
  inspections: InspectionRow;
  inspection_counts: InspectionCountRow;
  accounts: AccountRow;
  postings: PostingRow;
  deposit_references: DepositReferenceRow;
  settlements: SettlementRow;
  trust_records: TrustRecordRow;
  agent_histories: AgentHistoryRow;
  trust_thresholds: TrustThresholdsRow;
  key_sharers: KeySharerRow;
  credentials: CredentialRow;
  ledgers: LedgerRow;
  withdrawals: WithdrawalRow;
  freeze: FreezeRow;
  clock: ClockRow;
  incarnation: IncarnationRow;
  webhooks: WebhookRow;
  webhook_deliveries: WebhookDeliveryRow;
  card_checkouts: CardCheckoutRow;
  card_reversals: CardReversalRow;
  card_disputes: CardDisputeRow;
  x402_payments: X402PaymentRow;
  delegation_budgets: DelegationBudgetRow;
  idempotency_keys: IdempotencyKeyRow;
  spent_tokens: SpentTokenRow;
  pairings: PairingRow;
  audit_entries: AuditEntryRow;
  approvals: ApprovalRow;
  approval_votes: ApprovalVoteRow;
  routing_decisions: RoutingDecisionRow;
  capability_counts: CapabilityCountRow;
  plans: PlanRow;
  conversations: ConversationRow;
  messages: MessageRow;
  agent_events: AgentEventRow;
  federation_peers: FederationPeerRow;
  federation_outbound: FederationOutboundRow;
  federation_inbound: FederationInboundRow;
  federation_outbox: FederationOutboxRow;
  federation_holds: FederationHoldRow;
  federation_payments: FederationPaymentRow;
  federation_agent_keys: FederationAgentKeyRow;
  federation_pending: PendingPeerRow;
  shown_offers: ShownOfferRow;
  witnessed: WitnessedRow;
  witness_evidence: WitnessEvidenceRow;
  peer_witnesses: PeerWitnessRow;
  event_queue: QueuedEventRow;
  relay_events: RelayEventRow;
  event_counter: EventCounterRow;
  ended_tasks: EndedTasksRow;
  relay_minutes: RelayMinuteRow;
  online_spans: OnlineSpanRow;
  online_watches: OnlineWatchRow;
  expired_tasks: ExpiredTaskRow;
  task_parents: TaskParentRow;
  console_codes: ConsoleCodeRow;
  console_sessions: ConsoleSessionRow;
  log_entries: LogEntryRow;
  log_tiles: LogTileRow;
  log_index: LogIndexRow;
  log_segments: LogSegmentRow;
  log_segment_rows: LogSegmentEntryRow;
  log_heads: LogHeadRow;
  log_state: LogStateRow;
  processes: ProcessRow;
  leases: LeaseRow;
  presences: PresenceRow;
  changes: ChangeRow;
  seen: SeenRow;
}
