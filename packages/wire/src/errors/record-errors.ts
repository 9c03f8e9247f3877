import type { ErrorText } from "./error-text.ts";

/** Refusals of credentials, plans, conversations, events, webhooks and ledgers. */
export const recordErrors = {
  "webhook.not_found": { status: 404, text: "Webhook not found" },
  "webhook.url_refused": { status: 400, text: "Webhook url is not an address that may be called" },
  "webhook.too_many": { status: 409, text: "Agent has reached its maximum of webhooks" },
  "credential.not_found": { status: 404, text: "Credential not found" },
  "credential.too_large": { status: 413, text: "Credential is larger than 64 KiB" },
  "credential.invalid": { status: 400, text: "Credential verification failed" },
  "credential.type_unknown": { status: 400, text: "Credential must have exactly one known type" },
  "credential.wrong_subject": { status: 400, text: "Credential is not about this agent" },
  "credential.wrong_issuer": {
    status: 400,
    text: "Reputation and trust credentials must be issued by other agents, gradients by the agent itself",
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
  "event.goal_full": { status: 409, text: "Goal has reached its maximum of 10000 events" },
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
  "ledger.unordered": { status: 400, text: "Ledger timeline is not in chronological order" },
  "ledger.unsigned": { status: 400, text: "Ledger must be signed" },
  "ledger.contradicted": { status: 400, text: "Ledger contradicts its own timeline" },
  "ledger.wrong_agent": { status: 403, text: "Ledger agent_id must be the agent of the path" },
  "ledger.key_missing": { status: 403, text: "No key of the ledger's agent is known" },
  "ledger.signature_invalid": { status: 403, text: "Ledger signature verification failed" },
  "ledger.not_extended": {
    status: 409,
    text: "Another ledger is stored for this goal, and this one does not extend its timeline",
  },
} as const satisfies Record<string, ErrorText>;
