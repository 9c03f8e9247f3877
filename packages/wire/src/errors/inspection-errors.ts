import type { ErrorText } from "./error-text.ts";

/** Refusals about inspections before payment and their disputes. */
export const inspectionErrors = {
  "acceptance.not_offered": {
    status: 400,
    text: "Executor does not offer this inspection, or the submitter cannot ask for it",
  },
  "acceptance.free_task": { status: 400, text: "A free task has no inspection before payment" },
  "acceptance.arbiter_invalid": { status: 400, text: "arbiter_id may not decide about this task" },
  "acceptance.suspended": {
    status: 403,
    text: "Submitter lost too many of its last disputes to ask for an inspection",
  },
  "inspection.not_found": { status: 404, text: "Inspection not found" },
  "inspection.not_party": {
    status: 403,
    text: "Only the party or the arbiter that it names may give this verdict or decision",
  },
  "inspection.closed": { status: 409, text: "Inspection is closed" },
  "inspection.wrong_state": {
    status: 409,
    text: "Inspection is in a state that does not allow this verdict or decision",
  },
  "inspection.receipt_mismatch": {
    status: 400,
    text: "task_id and receipt_hash must be those of the task and its receipt",
  },
  "inspection.signature_invalid": {
    status: 403,
    text: "Signature is not by a key in force of the signing agent",
  },
  "inspection.timestamp": {
    status: 400,
    text: "timestamp must be within 5 minutes of the relay's clock",
  },
  "dispute.bond_required": {
    status: 402,
    text: "Insufficient funds for the bond of a contest: deposit to the account",
  },
  "dispute.too_many": {
    status: 429,
    text: "Submitter has too many rejected and disputed inspections",
  },
} as const satisfies Record<string, ErrorText>;
