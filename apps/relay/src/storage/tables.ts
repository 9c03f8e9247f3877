import type { TaskStatus } from "@agent/wire";

/** The rows as they are stored: migrations/ is the truth, this is its type. */
export interface Tables {
  relay_identity: RelayIdentityRow;
  agents: AgentRow;
  agent_keys: AgentKeyRow;
  devices: DeviceRow;
  agent_capabilities: AgentCapabilityRow;
  listings: ListingRow;
  tasks: StoredTaskRow;
  task_counters: TaskCounterRow;
  receipts: ReceiptRow;
  accounts: AccountRow;
  postings: PostingRow;
  deposit_references: DepositReferenceRow;
  settlements: SettlementRow;
  trust_records: TrustRecordRow;
  agent_histories: AgentHistoryRow;
  credentials: CredentialRow;
  ledgers: LedgerRow;
  withdrawals: WithdrawalRow;
  freeze: FreezeRow;
  webhooks: WebhookRow;
  webhook_deliveries: WebhookDeliveryRow;
  card_checkouts: CardCheckoutRow;
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
}

export interface RelayIdentityRow {
  one: 1;
  relay_id: string;
  /** Seed as hex, or the sealed text when a passphrase is set. */
  secret_key: string;
  created_at: number;
}

export interface AgentRow {
  agent_id: string;
  /** Null until the agent was bootstrapped. */
  public_key: string | null;
  endpoint_url: string | null;
  /** JSON array: what the agent registered with; a listing may add more. */
  capabilities: string;
  metadata: string;
  /** Null while the owner has not said. */
  federation_visible: 0 | 1 | null;
  registered: 0 | 1;
  created_at: number;
  last_seen_at: number;
  revoked_at: number | null;
}

export interface AgentKeyRow {
  agent_id: string;
  public_key: string;
  valid_from: number;
  valid_until: number | null;
  /** The record by which this key took over; null for the first key. */
  succession: string | null;
}

export interface DeviceRow {
  device_id: string;
  agent_id: string;
  public_key: string;
  device_name: string | null;
  /** Space-separated. */
  scopes: string;
  registered_at: number;
  revoked_at: number | null;
}

export interface AgentCapabilityRow {
  capability: string;
  agent_id: string;
}

export interface ListingRow {
  agent_id: string;
  listing_id: string;
  body: string;
  updated_at: number;
}

export type TaskRowStatus = "pending" | "claimed" | "completed" | "failed" | "denied" | "cancelled";

export interface TaskRow {
  task_id: string;
  agent_id: string;
  submitted_by: string | null;
  /** The executor that scored routing chose; null while it is the target. */
  assigned_to: string | null;
  status: TaskStatus;
  prompt: string;
  required_capabilities: string;
  submitted_at: number;
  expires_at: number;
  wall_clock_ms: number | null;
  step_id: string | null;
  routing_choice: string | null;
  /** JSON array of the executors to try in turn, with the price that each charges. */
  attempts: string;
  /** Which of them has the task now. */
  attempt: number;
  charge: number;
  locked: number;
  allocation_id: string | null;
  claimed_by: string | null;
  lease_until: number | null;
  /** 1 once a bad signature of the executor counted against it. */
  blamed: 0 | 1;
  receipt_hash: string | null;
  finished_at: number | null;
  /** JSON; null where the task came without one. */
  delegation_token: string | null;
}

/** A task as it is read: what happened to it between its beginning and its end comes with it. */
export interface StoredTaskRow extends TaskRow {
  /** JSON array. */
  events: string;
}

export interface TaskCounterRow {
  scope: string;
  live: number;
}

export interface ReceiptRow {
  task_id: string;
  receipt_hash: string;
  agent_id: string;
  /** The receipt's text exactly as it arrived. */
  body: string;
  received_at: number;
}

export interface AccountRow {
  account: string;
  balance: number;
  held: number;
  pending_withdrawals: number;
  sequence: number;
}

export interface PostingRow {
  account: string;
  sequence: number;
  transaction_id: string;
  type: string;
  amount: number;
  balance_after: number;
  reference_id: string | null;
  description: string | null;
  created_at: number;
}

export interface DepositReferenceRow {
  agent_id: string;
  reference: string;
}

export interface SettlementRow {
  task_id: string;
  settlement_id: string;
  allocation_id: string;
  receipt_hash: string;
  ledger_hash: string | null;
  amount_settled: number;
  fee: number;
  net: number;
  payer_id: string;
  payee_id: string;
  status: "completed" | "partial" | "refunded";
  settled_at: number;
  /** JSON array: account and sequence of each row of the movement. */
  postings: string;
}

export interface WithdrawalRow {
  withdrawal_id: string;
  agent_id: string;
  amount: number;
  destination: string;
  status: "pending" | "completed" | "failed";
  created_at: number;
  resolved_at: number | null;
  payout_reference: string | null;
  reason: string | null;
}

/** There is one while the relay stands still. */
export interface FreezeRow {
  one: 1;
  since: number;
  reason: string;
}

export interface WebhookRow {
  webhook_id: string;
  agent_id: string;
  url: string;
  /** `whsec_` and base64: what deliveries are signed with. */
  secret: string;
  /** JSON array. */
  events: string;
  state: "active" | "disabled";
  /** In a row. */
  failures: number;
  last_error: string | null;
  created_at: number;
}

/** A message that was not taken yet; its id stays the same at every attempt. */
export interface WebhookDeliveryRow {
  delivery_id: string;
  webhook_id: string;
  body: string;
  attempt: number;
  next_at: number;
}

/** A session of the card processor. */
export interface CardCheckoutRow {
  session_id: string;
  agent_id: string;
  /** Null when the event was faster than the answer that began it. */
  asked: number | null;
  paid: number | null;
  created_at: number;
  credited_at: number | null;
}

/** A proof of payment, from before the facilitator was asked to settle it. */
export interface X402PaymentRow {
  /** Of what can be settled once: chain, asset, wallet and nonce. */
  proof_hash: string;
  /** The account that it is for. */
  payer_id: string;
  wallet: string;
  amount: number;
  /** JSON, both: what the facilitator is asked with. */
  payload: string;
  requirements: string;
  /** `undecided`: asked again after no answer, the facilitator refused; the operator looks at the chain. */
  state: "settling" | "settled" | "failed" | "undecided";
  tx_hash: string | null;
  reason: string | null;
  created_at: number;
  settled_at: number | null;
}

/** An agent's signed ledger of a goal; only its newest, which extends those before it. */
export interface LedgerRow {
  agent_id: string;
  goal_id: string;
  content_hash: string;
  /** The ledger's text exactly as it arrived. */
  body: string;
  steps_completed: number;
  steps_total: number;
  stored_at: number;
}

/** Of a delegation token with a `max_budget`. */
export interface DelegationBudgetRow {
  issuer_id: string;
  token_id: string;
  /** Open holds and what was charged, in micro-units. */
  used: number;
  /** When the last of the tokens of this name ends; null for one that was not used since this is noted. */
  expires_at: number | null;
  /** Tasks whose holds are counted. */
  open_tasks: number;
}

export interface TrustRecordRow {
  agent_id: string;
  remote_agent_id: string;
  /** Index into the levels from blocked to trusted, so that the store can order by it. */
  trust_level: number;
  first_seen_at: number;
  last_seen_at: number;
  interaction_count: number;
  successful_tasks: number;
  failed_tasks: number;
  /** Completed tasks that were paid for; only those speak to strangers. */
  paid_tasks: number;
  /** Over the successful tasks; null before the first. */
  avg_latency_ms: number | null;
}

/** What paid tasks say of an executor to delegators who have no record of their own. */
export interface AgentHistoryRow {
  agent_id: string;
  successful_tasks: number;
  failed_tasks: number;
  /** Of the successful tasks together. */
  latency_total_ms: number;
  /** What was done for nothing, counted alike. */
  free_successful_tasks: number;
  free_failed_tasks: number;
  free_latency_total_ms: number;
}

export interface CredentialRow {
  /** The agent that it is about. */
  agent_id: string;
  /** Counts up per agent, in the order in which they came. */
  sequence: number;
  credential_id: string;
  type: string;
  /** did:key. */
  issuer: string;
  /** Whose trust the relay speaks of; empty in all others. */
  delegator_id: string;
  /** The task whose receipt the relay issued it for. */
  task_id: string | null;
  /** The signed document. */
  body: string;
  issued_at: number;
  expires_at: number | null;
  /** 1 for the newest that an issuer says of its kind: that one is presented. */
  current: 0 | 1;
  revoked_at: number | null;
  revoked_reason: string | null;
}

/** The answer to a request that came with an `Idempotency-Key`. */
export interface IdempotencyKeyRow {
  /** Operation and caller; of the operator also the agent that it acted for. */
  scope: string;
  key: string;
  /** SHA-256 of path and body. */
  request_hash: string;
  status: number;
  body: string;
  created_at: number;
}

/** A token that counts no more, wherever (`revoked`) or where it counts once (`used`). */
export interface SpentTokenRow {
  agent_id: string;
  jti: string;
  kind: "used" | "revoked";
  /** When no token of this id can be valid any longer. */
  forget_at: number;
}

export interface PairingRow {
  pairing_id: string;
  agent_id: string;
  code: string;
  status: "pending" | "claimed" | "approved" | "denied";
  device_name: string | null;
  public_key: string | null;
  device_id: string | null;
  expires_at: number;
}

/** Who did what to an agent; nothing of it is changed or removed. */
export interface AuditEntryRow {
  agent_id: string;
  /** Counts up per agent. */
  sequence: number;
  at: number;
  /** An agent's id, `operator`, or `anonymous`. */
  actor: string;
  device_id: string | null;
  action: string;
  detail: string | null;
}

/** Another relay. Amounts are micro-units. */
export interface FederationPeerRow {
  relay_id: string;
  public_key: string;
  endpoint_url: string;
  display_name: string;
  /** A pending one is kept in memory; the row of a removed one keeps its key and what is owed. */
  state: "pending" | "active" | "suspended" | "removed";
  credit_limit: number;
  /** What open forwards to it may come to cost. */
  reserved: number;
  missed_heartbeats: number;
  /** The newest time that it signed, by its own clock. */
  last_timestamp: number;
  last_heartbeat_at: number | null;
  agent_count: number;
  /** JSON array: how the latest forwards to it went. */
  forwards: string;
}

/** A task that was handed to another relay. */
export interface FederationOutboundRow {
  task_id: string;
  relay_id: string;
  /** When to send it again. */
  due_at: number | null;
  /** Counts up with every change, so that none is lost. */
  version: number;
  /** JSON: where it stands, by the rules of `@agent/federation-protocol`. */
  body: string;
  /** JSON array: the way that it goes. */
  route: string;
  /** JSON: that relay's word on the receipt. */
  attestation: string | null;
  /** By when it was over; null while it is not. */
  ended_at: number | null;
}

/** A task that came from another relay. */
export interface FederationInboundRow {
  task_id: string;
  relay_id: string;
  due_at: number | null;
  version: number;
  body: string;
  /** The worker's key that the peer expects; null where it did not say. */
  public_key: string | null;
  settlement_id: string | null;
  /** JSON: the record that it was settled by. */
  settlement: string | null;
  /** By when it came to nothing; null while it has not, and once it is settled. */
  ended_at: number | null;
}

/** A settlement on its way to the relay that is to be paid. */
export interface FederationOutboxRow {
  settlement_id: string;
  task_id: string;
  relay_id: string;
  state: string;
  due_at: number | null;
  version: number;
  body: string;
  ended_at: number | null;
}

/** A hold that outlives its task, because another relay has yet to settle or to be paid. */
export interface FederationHoldRow {
  task_id: string;
  amount: number;
}

/** A payment outside the relay that was recorded. */
export interface FederationPaymentRow {
  relay_id: string;
  reference: string;
}

/** The key under which another relay's agent has first worked for this one. */
export interface FederationAgentKeyRow {
  agent_id: string;
  public_key: string;
}

/** A call that an agent asked a quorum about. */
export interface ApprovalRow {
  agent_id: string;
  approval_id: string;
  /** Of the relay's making, by time. */
  sequence: string;
  tool_name: string;
  args_hash: string;
  quorum_required: number;
  status: "pending" | "approved" | "denied" | "used";
  created_at: number;
  resolved_at: number | null;
}

/** One for each approver; its last three members are null until it has voted. */
export interface ApprovalVoteRow {
  agent_id: string;
  approval_id: string;
  approver_id: string;
  sequence: string;
  decision: "approve" | "deny" | null;
  signature: string | null;
  voted_at: number | null;
}

export interface PlanRow {
  agent_id: string;
  plan_id: string;
  /** Of the relay's making, by time. */
  sequence: string;
  goal_id: string;
  title: string;
  status: "active" | "completed" | "failed" | "paused";
  /** JSON array. */
  steps: string;
  created_at: number;
  updated_at: number;
}

export interface ConversationRow {
  agent_id: string;
  conversation_id: string;
  /** Of the relay's making, by time. */
  sequence: string;
  title: string;
  started_at: number;
  last_active_at: number;
}

export interface MessageRow {
  agent_id: string;
  conversation_id: string;
  /** Counts up per conversation. */
  sequence: number;
  message_id: string;
  role: string;
  content: string;
  created_at: number;
}

/** An entry of an agent's log, which is only appended to. */
export interface AgentEventRow {
  agent_id: string;
  /** Counts up per agent. */
  clock: number;
  event_id: string;
  type: string;
  timestamp: number;
  goal_id: string | null;
  payload: string;
}

export interface RoutingDecisionRow {
  task_id: string;
  /** JSON. */
  record: string;
}

/** Triggers of `agent_capabilities` keep it. */
export interface CapabilityCountRow {
  capability: string;
  agents: number;
}
