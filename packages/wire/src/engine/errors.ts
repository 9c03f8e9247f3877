/** What a refusal code means to a caller over HTTP. */
export interface ErrorText {
  readonly status: number;
  readonly text: string;
}

/**
 * Every refusal a relay can answer, with its status and text (specification, "Errors"). A code that an
 * operation declares but this table lacks does not compile.
 */
export const errors = {
  "auth.missing": { status: 401, text: "Missing authorization" },
  "auth.malformed_token": { status: 401, text: "Invalid token" },
  "auth.expired_token": { status: 401, text: "Invalid token" },
  "auth.token_revoked": { status: 401, text: "Invalid token" },
  "auth.token_used": { status: 401, text: "Invalid token" },
  "auth.unknown_token": { status: 403, text: "Invalid token" },
  "auth.verification_failed": { status: 401, text: "Token verification failed" },
  "auth.device_not_authorized": { status: 403, text: "Device not authorized for this agent" },
  "auth.scope_missing": { status: 403, text: "Token does not carry the scope of this operation" },
  "auth.not_owner": { status: 403, text: "Only the agent itself may do this" },
  "auth.master_only": { status: 403, text: "Only the operator of the relay may do this" },

  "request.malformed_json": { status: 400, text: "Request body is not valid JSON" },
  "request.invalid": { status: 400, text: "Invalid request" },
  "request.too_deep": { status: 400, text: "Request body is nested deeper than 64 levels" },
  "request.too_large": { status: 413, text: "Request body is larger than 1 MiB" },
  "request.media_type": { status: 415, text: "Request body has to be application/json" },
  "request.timeout": { status: 408, text: "Request body did not arrive in time" },
  "route.not_found": { status: 404, text: "No such path" },
  "route.method_not_allowed": { status: 405, text: "Method not allowed on this path" },
  "idempotency.key_invalid": {
    status: 400,
    text: "Idempotency-Key has to be 1 to 255 visible ASCII characters",
  },
  "idempotency.key_in_use": {
    status: 409,
    text: "A request with this Idempotency-Key is still running",
  },
  "idempotency.key_reused": {
    status: 422,
    text: "Idempotency-Key was used for another request",
  },
  "rate.exceeded": { status: 429, text: "Rate limit exceeded" },
  "server.failed": { status: 500, text: "Internal error" },
  "server.unavailable": { status: 503, text: "Storage is unavailable" },
  "server.not_ready": { status: 503, text: "Relay is not ready" },
  "server.frozen": { status: 503, text: "Relay is frozen by its operator" },
  "server.draining": { status: 503, text: "Relay is shutting down" },

  "agent.not_found": { status: 404, text: "Agent not found" },
  "agent.revoked": { status: 403, text: "Agent is revoked" },
  "agent.id_reserved": { status: 400, text: "agent_id is the relay's own id" },
  "agent.key_unacceptable": {
    status: 400,
    text: "public_key has to be 32 bytes as 64 lower-case hex digits and no small-order point",
  },
  "agent.key_changed": {
    status: 409,
    text: "Public key changed - succession record required",
  },
  "agent.id_not_of_key": {
    status: 403,
    text: "agent_id is of version 8 and belongs to another key, without a succession from it",
  },
  "agent.key_in_use": { status: 409, text: "Public key is proven under another agent id" },
  "agent.key_displaced": {
    status: 403,
    text: "Agent lost its unproven key to the agent that proved it: a succession record is required",
  },
  "agent.succession_invalid": { status: 400, text: "Invalid key succession" },
  "agent.proof_required": { status: 400, text: "proof of possession of the key is required" },
  "agent.proof_invalid": { status: 400, text: "proof does not show possession of the key" },
  "trust.not_found": { status: 404, text: "No trust record of this agent" },
  "trust.blocked": { status: 409, text: "Blocking is final" },
  "trust.level_earned": {
    status: 400,
    text: "Only blocked is set by hand, the other levels are earned",
  },
  "trust.no_path": { status: 404, text: "No trusted path found" },
  "device.not_found": { status: 404, text: "Device not found" },
  "device.carries_agent_key": {
    status: 409,
    text: "Device carries the agent's own key: rotate that key, or revoke the agent",
  },
  "pairing.not_found": { status: 404, text: "Pairing code or session not found" },
  "pairing.not_owner": { status: 403, text: "Pairing session of another agent" },
  "pairing.code_used": { status: 409, text: "Pairing code was already used" },
  "pairing.not_claimed": { status: 409, text: "Pairing code was not claimed yet" },
  "pairing.resolved": { status: 409, text: "Pairing was already approved or denied" },
  "pairing.expired": { status: 410, text: "Pairing code expired" },
  "pairing.too_many_tries": { status: 429, text: "Too many wrong pairing codes" },
  "approval.not_found": { status: 404, text: "Approval not found" },
  "approval.not_approver": { status: 403, text: "Quorum approver is not authorized" },
  "approval.signature_invalid": { status: 403, text: "Vote signature verification failed" },
  "approval.vote_outdated": {
    status: 403,
    text: "Vote must sign the tool and the relay, as approval_vote@2",
  },
  "approval.resolved": { status: 409, text: "Approval is already resolved" },
  "approval.already_voted": { status: 409, text: "Approver has already voted" },
  "approval.id_taken": { status: 409, text: "Another approval has this id" },
  "approval.other_call": { status: 409, text: "Approval was given for another call" },
  "approval.not_approved": { status: 409, text: "Approval is not open to be used" },
  "listing.not_found": { status: 404, text: "Listing not found" },

  "task.not_found": { status: 404, text: "Task not found or expired" },
  "task.not_participant": { status: 403, text: "Only the task's participants may do this" },
  "task.not_submitter": { status: 403, text: "Only the task's submitter may do this" },
  "routing.not_found": { status: 404, text: "No scored routing of this task was kept" },
  "task.already_finished": { status: 409, text: "Task is already finished" },
  "task.not_finished": {
    status: 409,
    text: "Task is open, or its result is still on its way to another relay",
  },
  "task.not_pending": { status: 409, text: "Task is no longer pending" },
  "task.not_claimed": { status: 409, text: "Task is not claimed by this device" },
  "task.no_receipt": { status: 409, text: "Task has no receipt" },
  "task.no_candidate": {
    status: 422,
    text: "The target is excluded or does not list a required capability, and no other agent does",
  },
  "task.id_conflict": {
    status: 409,
    text: "Target's id is claimed under another key: name the right one in public_key",
  },
  "task.target_blocked": { status: 403, text: "The submitter has blocked the target" },
  "task.relay_full": { status: 503, text: "Relay holds its maximum of open tasks" },
  "task.submitter_full": { status: 429, text: "Submitter holds its maximum of open tasks" },

  "receipt.not_found": { status: 404, text: "Receipt not found" },
  "receipt.malformed": { status: 400, text: "Invalid receipt structure" },
  "receipt.too_many_nested": { status: 400, text: "Receipt holds more than 256 nested receipts" },
  "receipt.span": {
    status: 400,
    text: "Receipt timestamp out of range: completed_at - submitted_at has to be within -60 s and +3600 s",
  },
  "receipt.task_mismatch": {
    status: 400,
    text: "Receipt task_id and relay_task_id have to be the task's id",
  },
  "receipt.suite": { status: 403, text: "Receipt suite is missing or unknown" },
  "receipt.wrong_agent": { status: 403, text: "Receipt agent_id is not the task's executor" },
  "receipt.key_missing": { status: 403, text: "Receipt key is not bound to its agent" },
  "receipt.signature_invalid": { status: 403, text: "Receipt signature verification failed" },
  "receipt.out_of_scope": { status: 403, text: "Receipt names a tool outside delegated_scope" },

  "delegation.malformed": { status: 400, text: "Invalid delegation token structure" },
  "delegation.too_long": { status: 400, text: "Delegation chain holds more than 10 tokens" },
  "delegation.suite": { status: 403, text: "Delegation token suite is missing or unknown" },
  "delegation.wrong_issuer": { status: 403, text: "Delegation token is not the submitter's own" },
  "delegation.wrong_delegate": { status: 403, text: "Delegation token is for another agent" },
  "delegation.remote_delegate": {
    status: 400,
    text: "Delegation token is for an agent of another relay, and tokens do not cross relays",
  },
  "delegation.chain_broken": {
    status: 403,
    text: "Delegation token was handed on by another than its holder",
  },
  "delegation.widened": { status: 403, text: "Delegation token is wider than its parent" },
  "delegation.lifetime": {
    status: 400,
    text: "Delegation token has to last more than 0 ms and at most 24 h",
  },
  "delegation.not_yet_valid": { status: 403, text: "Delegation token is not valid yet" },
  "delegation.expired": { status: 403, text: "Delegation token has expired" },
  "delegation.key_unbound": {
    status: 403,
    text: "Delegation token key is not bound to its issuer",
  },
  "delegation.signature_invalid": {
    status: 403,
    text: "Delegation token signature verification failed",
  },
  "delegation.budget_exceeded": {
    status: 402,
    text: "Price is above what is left of the delegation token's max_budget",
  },

  "evidence.too_deep": {
    status: 422,
    text: "Receipt is nested too deep to be part of a signed document",
  },

  "budget.insufficient": {
    status: 402,
    text: "Insufficient funds: deposit to the account or pay via the service",
  },
  "budget.max_required": {
    status: 400,
    text: "This relay takes a task that costs something only with max_budget",
  },
  "budget.card_hold": {
    status: 402,
    text: "Money that came from a card cannot be withdrawn yet",
  },
  "account.overdrawn": {
    status: 402,
    text: "Account is overdrawn, because a card payment was taken back: deposit to it first",
  },
  "budget.max_exceeded": { status: 402, text: "Price is above max_budget" },
  "budget.no_payer": { status: 402, text: "A paid task needs submitted_by" },
  "webhook.not_found": { status: 404, text: "Webhook not found" },
  "webhook.url_refused": { status: 400, text: "Webhook address is not one that may be called" },
  "webhook.too_many": { status: 409, text: "Agent has its maximum of webhooks" },
  "payment.malformed": { status: 400, text: "PAYMENT-SIGNATURE is no x402 v2 payment" },
  "payment.mismatch": { status: 402, text: "Payment is not what was asked for" },
  "payment.invalid": { status: 402, text: "Payment does not verify" },
  "payment.not_settled": { status: 402, text: "Payment was not settled" },
  "payment.reused": { status: 409, text: "Payment was already used" },
  "payment.unavailable": {
    status: 503,
    text: "Payment facilitator cannot be reached, and nothing was charged",
  },
  "payment.undecided": {
    status: 503,
    text: "Payment is not decided yet: do not pay again, it will be credited when it is",
  },
  "payment.not_found": { status: 404, text: "Payment not found" },
  "payment.resolved": { status: 409, text: "Payment is not undecided" },
  "card.not_configured": { status: 501, text: "Card deposits are not set up at this relay" },
  "card.amount_unsupported": {
    status: 400,
    text: "A card is charged whole cents, from 0.50 to 999999.99",
  },
  "card.return_url_missing": { status: 400, text: "This relay has no address: name a return_url" },
  "card.processor_failed": { status: 502, text: "Card processor did not take the request" },
  "card.signature_invalid": { status: 400, text: "Event signature verification failed" },
  "withdrawal.not_found": { status: 404, text: "Withdrawal not found" },
  "withdrawal.resolved": { status: 409, text: "Withdrawal is already resolved" },
  "statement.too_long": { status: 400, text: "Period holds too many movements for one statement" },
  "money.balance_limit": { status: 400, text: "Balance would rise above 9000000000" },

  "federation.disabled": { status: 403, text: "Federation is disabled on this relay" },
  "federation.signature_invalid": { status: 403, text: "Invalid federation signature" },
  "federation.timestamp_expired": {
    status: 403,
    text: "Federation request is older than 5 minutes or from the future",
  },
  "federation.wrong_receiver": { status: 403, text: "Federation request is for another relay" },
  "federation.wrong_sender": {
    status: 403,
    text: "Federation request speaks for another relay than the one that signed it",
  },
  "federation.replayed": { status: 403, text: "Federation request was made before" },
  "federation.peer_removed": {
    status: 403,
    text: "Peer was removed by the operator, who alone can admit it again",
  },
  "peer.own_identity": { status: 409, text: "Peer has this relay's own id or key" },
  "peer.blocked": { status: 403, text: "Peer is blocked" },
  "peer.not_allowed": { status: 403, text: "Peer is not in allowlist" },
  "peer.exists": { status: 409, text: "Federation peer already exists" },
  "peer.key_changed": { status: 409, text: "Federation peer is known under another key" },
  "peer.limit_reached": { status: 503, text: "Maximum federation peer limit reached" },
  "peer.not_pending": { status: 404, text: "Pending federation peer not found" },
  "peer.identity_mismatch": { status: 403, text: "Peer is not who its endpoint says it is" },
  "peer.challenge_invalid": { status: 403, text: "Peer did not prove possession of its key" },
  "peer.timestamp_stale": {
    status: 403,
    text: "Peer has signed a later time than this one before",
  },
  "peer.suspended": { status: 403, text: "Peer is suspended" },
  "peer.not_found": { status: 404, text: "Federation peer not found" },
  "peer.unreachable": { status: 502, text: "Peer cannot be reached" },
  "peer.refused": { status: 502, text: "Peer refused" },
  "forward.duplicate": { status: 409, text: "Task was forwarded before" },
  "forward.looped": { status: 400, text: "Task has passed this relay before" },
  "forward.expired": { status: 400, text: "Task has expired" },
  "forward.agent_not_found": { status: 404, text: "Agent not found" },
  "forward.key_mismatch": { status: 400, text: "Agent has another key" },
  "forward.not_offered": {
    status: 422,
    text: "Agent has a price and does not list a required capability",
  },
  "forward.underpaid": { status: 402, text: "Budget is below the agent's price" },
  "clearing.limit_exceeded": { status: 402, text: "Credit limit between the relays is reached" },
  "result.task_not_found": { status: 404, text: "Forwarded task not found or expired" },
  "result.wrong_peer": { status: 403, text: "Task was not forwarded to this peer" },
  "result.already_finished": { status: 409, text: "Forwarded task has another result" },
  "result.key_mismatch": {
    status: 400,
    text: "Result names another key than the one the task was forwarded for",
  },
  "result.receipt_invalid": { status: 400, text: "Receipt does not verify" },
  "result.attestation_invalid": { status: 400, text: "Relay attestation does not verify" },
  "cancel.task_not_found": { status: 404, text: "No task of this peer, or it is forgotten" },
  "cancel.wrong_peer": { status: 403, text: "Task was taken from another peer" },
  "cancel.already_finished": { status: 409, text: "Task has a receipt already" },
  "settlement.not_owed": { status: 404, text: "No task of this peer" },
  "settlement.not_completed": { status: 409, text: "Task is not completed" },
  "settlement.already_settled": { status: 409, text: "Task was settled before" },
  "settlement.amount_mismatch": { status: 400, text: "Amount is not the agreed one" },
  "settlement.receipt_mismatch": { status: 400, text: "Receipt is not the task's" },
  "outbox.not_found": { status: 404, text: "Settlement not found" },
  "outbox.not_open": { status: 409, text: "Settlement does not wait for the operator" },

  "credential.not_found": { status: 404, text: "Credential not found" },
  "credential.too_large": { status: 413, text: "Credential is larger than 64 KiB" },
  "credential.invalid": { status: 400, text: "Credential does not verify" },
  "credential.type_unknown": { status: 400, text: "Credential has to have exactly one known type" },
  "credential.wrong_subject": { status: 400, text: "Credential is not about this agent" },
  "credential.wrong_issuer": {
    status: 400,
    text: "Reputation and trust are issued by other agents, a gradient by the agent itself",
  },
  "credential.not_participant": {
    status: 403,
    text: "Only the credential's subject or issuer may do this",
  },
  "credential.id_taken": { status: 409, text: "Another credential has this id" },

  "plan.not_found": { status: 404, text: "Plan not found" },
  "conversation.not_found": { status: 404, text: "Conversation not found" },
  "message.id_taken": { status: 409, text: "Another message of the conversation has this id" },
  "event.not_found": { status: 404, text: "Event not found" },
  "event.id_taken": { status: 409, text: "Another event of the agent has this id" },
  "event.goal_full": { status: 409, text: "Goal holds 10000 events, its maximum" },

  "ledger.not_found": { status: 404, text: "Execution ledger not found" },
  "ledger.not_participant": {
    status: 403,
    text: "Only the agent and the submitter of the goal's task may do this",
  },
  "ledger.malformed": { status: 400, text: "Invalid ledger structure" },
  "ledger.spec": { status: 400, text: "Ledger spec is unknown" },
  "ledger.content_hash_mismatch": {
    status: 400,
    text: "Ledger content_hash is not the hash of its timeline",
  },
  "ledger.unordered": { status: 400, text: "Ledger timeline is not in the order of time" },
  "ledger.unsigned": { status: 400, text: "Ledger has to be signed" },
  "ledger.contradicted": { status: 400, text: "Ledger contradicts its own timeline" },
  "ledger.wrong_agent": { status: 403, text: "Ledger agent_id is not the path's agent" },
  "ledger.key_missing": { status: 403, text: "No key of the ledger's agent is known" },
  "ledger.signature_invalid": { status: 403, text: "Ledger signature verification failed" },
  "ledger.not_extended": {
    status: 409,
    text: "Another ledger is stored for this goal, and this one does not extend its timeline",
  },
} as const satisfies Record<string, ErrorText>;

export type Code = keyof typeof errors;

/** A refusal as a value: the code decides status and text, `detail` names the field or the reason. */
export interface Refusal<C extends Code = Code> {
  readonly ok: false;
  readonly code: C;
  readonly detail?: string;
  readonly issues?: readonly Issue[];
  readonly retryAfterSeconds?: number;
  /** Headers of the answer, in lower case. */
  readonly headers?: { readonly [name: string]: string };
  /** Members of the body beside those that every refusal has. */
  readonly members?: { readonly [name: string]: unknown };
}

/** One fault of a request: the dotted path of the field and the rule that it breaks. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** Makes a refusal; `detail` is appended to the code's text and has to be safe to show. */
export function refuse<C extends Code>(code: C, detail?: string): Refusal<C> {
  return detail === undefined ? { ok: false, code } : { ok: false, code, detail };
}

/** What a refusal says to a human: the text of its code, and the field or the reason behind it. */
export function formatRefusal({ code, detail }: Pick<Refusal, "code" | "detail">): string {
  const { text } = errors[code];
  return detail === undefined ? text : `${text}: ${detail}`;
}

/** The JSON body of every error answer (docs/decisions.md, 1); `error` and `message` are one text. */
export interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly code: Code;
  readonly status: number;
  readonly request_id: string;
  readonly retry_after?: number;
  readonly issues?: readonly Issue[];
}

export function buildErrorBody(refusal: Refusal, requestId: string): ErrorBody {
  const { status } = errors[refusal.code];
  const message = formatRefusal(refusal);
  return {
    ...refusal.members,
    error: message,
    message,
    code: refusal.code,
    status,
    request_id: requestId,
    ...(refusal.retryAfterSeconds !== undefined && { retry_after: refusal.retryAfterSeconds }),
    ...(refusal.issues !== undefined && { issues: refusal.issues }),
  };
}
