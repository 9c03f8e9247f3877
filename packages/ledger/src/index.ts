export { isTimelineExtension } from "./checks/is-timeline-extension.ts";
export { hashTimeline } from "./checks/hash-timeline.ts";
export { crossCheckGoal } from "./coverage/cross-check-goal.ts";
export { crossCheckSteps } from "./coverage/cross-check-steps.ts";
export {
  LEDGER_EVENT_TYPES,
  type LedgerEvent,
  LedgerEventSchema,
  type LedgerEventType,
} from "./events.ts";
export { type LedgerFault, parseLedger } from "./parse.ts";
export { type SignedReceipt, summarizeReceipt } from "./reconstruction/receipt-summary.ts";
export { reconstructLedger, reconstructLedgerInSteps } from "./reconstruction/reconstruct.ts";
export type { DelegatedTask, EventRecord, GoalRecord, GoalRecords, PlanRecord } from "./records.ts";
export { hashArgs, redactToolCall, type ToolCall } from "./redact.ts";
export type {
  Contradiction,
  GoalContradiction,
  LedgerRefusal,
  LedgerWarning,
  StepContradiction,
} from "./refusals.ts";
export {
  type Ledger,
  LEDGER_SPEC,
  LedgerSchema,
  type LedgerStep,
  type ReceiptSummary,
} from "./schema.ts";
export { type LedgerBody, type SignedLedger, signLedger } from "./checks/sign.ts";
export { LEDGER_STATUSES, type LedgerStatus, STEP_STATUSES, type StepStatus } from "./statuses.ts";
export { countSteps } from "./reconstruction/count-steps.ts";
export type { CheckResult } from "@agent/crypto";
export type { LedgerVerdict } from "./checks/verdict.ts";
export { verifyLedger, type VerifyLedgerOptions } from "./checks/verify.ts";
