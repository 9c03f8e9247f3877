import type { ErrorText } from "./error-text.ts";

/** Refusals of receipts, delegation tokens and evidence. */
export const receiptErrors = {
  "receipt.not_found": { status: 404, text: "Receipt not found" },
  "receipt.malformed": { status: 400, text: "Invalid receipt structure" },
  "receipt.too_many_nested": {
    status: 400,
    text: "Receipt contains more than 256 nested receipts",
  },
  "receipt.span": {
    status: 400,
    text: "Receipt timestamp out of range: completed_at - submitted_at must be from -60 s to +3600 s",
  },
  "receipt.task_mismatch": {
    status: 400,
    text: "Receipt task_id and relay_task_id must be the task's id",
  },
  "receipt.suite": { status: 403, text: "Receipt suite is missing or unknown" },
  "receipt.wrong_agent": { status: 403, text: "Receipt agent_id is not the task's executor" },
  "receipt.key_missing": { status: 403, text: "Receipt key is not bound to its agent" },
  "receipt.signature_invalid": { status: 403, text: "Receipt signature verification failed" },
  "receipt.out_of_scope": { status: 403, text: "Receipt names a tool outside delegated_scope" },
  "delegation.malformed": { status: 400, text: "Invalid delegation token structure" },
  "delegation.too_long": { status: 400, text: "Delegation chain contains more than 10 tokens" },
  "delegation.suite": { status: 403, text: "Delegation token suite is missing or unknown" },
  "delegation.wrong_issuer": { status: 403, text: "Delegation token is not the submitter's own" },
  "delegation.wrong_delegate": { status: 403, text: "Delegation token is for another agent" },
  "delegation.remote_delegate": {
    status: 400,
    text: "Delegation token is for an agent of another relay, and tokens are not valid across relays",
  },
  "delegation.chain_broken": {
    status: 403,
    text: "Delegation token was not issued by the delegate of its parent",
  },
  "delegation.widened": { status: 403, text: "Delegation token grants more than its parent" },
  "delegation.lifetime": {
    status: 400,
    text: "Delegation token must be valid for more than 0 ms and at most 24 h",
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
    text: "Price exceeds the remaining max_budget of the delegation token",
  },
} as const satisfies Record<string, ErrorText>;
