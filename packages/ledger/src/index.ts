export { isTimelineExtension } from "./append-only.ts";
export { hashTimeline } from "./content-hash.ts";
export { crossCheckGoal } from "./cross-check-goal.ts";
export { crossCheckSteps } from "./cross-check-steps.ts";
export {
  LEDGER_EVENT_TYPES,
  type LedgerEvent,
  LedgerEventSchema,
  type LedgerEventType,
} from "./events.ts";
export { type LedgerFault, parseLedger } from "./parse.ts";
export { type SignedReceipt, summarizeReceipt } from "./receipt-summary.ts";
export { reconstructLedger } from "./reconstruct.ts";
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
export { type LedgerBody, type SignedLedger, signLedger } from "./sign.ts";
export { LEDGER_STATUSES, type LedgerStatus, STEP_STATUSES, type StepStatus } from "./statuses.ts";
export { countSteps } from "./step-count.ts";
export type { CheckResult } from "@agent/crypto";
export type { LedgerVerdict } from "./verdict.ts";
export { verifyLedger, type VerifyLedgerOptions } from "./verify.ts";
