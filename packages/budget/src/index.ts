export {
  MAX_AMOUNT,
  fromMicro,
  parseAmount,
  toDollars,
  toMicro,
  type AmountResult,
} from "./amount.ts";
export {
  FEE_ACCOUNT,
  MAX_BALANCE,
  EXTERNAL_ACCOUNT,
  accountOf,
  computeAvailableBalance,
  checkBalance,
  checkFunds,
  type Account,
} from "./account.ts";
export {
  sumHeldCardMoney,
  moveCardMoney,
  type CardHolding,
  type MovedHolding,
  type CardLot,
} from "./card-money.ts";
export { selectNewerDispute, computeReversedAmount, type CardDispute } from "./card-reversal.ts";
export { buildRetentionPostings } from "./retention-postings.ts";
export {
  allocatePlan,
  computeLockAmount,
  type PlanAllocation,
  type PlanStep,
} from "./allocation.ts";
export { computeFeeChain, isFeeRate, splitFee, type FeeSplit } from "./fee.ts";
export {
  type ArbiterKind,
  decideInspection,
  type DecideInspectionResult,
  expireInspection,
  extendDeadline,
  type Inspection,
  type InspectionEvent,
  type InspectionOutcome,
  type InspectionResult,
  type InspectionState,
  type InspectionTerms,
  openInspection,
  shortenDeadline,
} from "./inspection/decide-inspection.ts";
export {
  computeLeastLoss,
  countsForArbiter,
  countsForParties,
  type DecidedDispute,
  type InspectionStake,
} from "./inspection/inspection-cost.ts";
export {
  getLeastRival,
  hasTooManyRejections,
  type InspectionVolume,
  isArbiterSuspended,
  isSubmitterSuspended,
  SUSPENSION_MS,
  type ArbiterCase,
  type SubmitterCase,
} from "./inspection/inspection-limits.ts";
export {
  asMillionths,
  computePart,
  fromMillionths,
  type Millionths,
  NO_SHARE,
  toMillionths,
} from "./inspection/millionths.ts";
export {
  type ArbitrationRate,
  computeArbitrationFee,
  computeInspectedLock,
  type InspectionSettlement,
  type InspectionToSettle,
  settleInspection,
} from "./inspection/settle-inspection.ts";
export { MICRO, ZERO, asMicro, negate, type Micro } from "./money.ts";
export {
  applyPostings,
  buildDepositPostings,
  buildHoldPostings,
  isBalanced,
  isReversal,
  buildPayoutPostings,
  buildReleasePostings,
  buildReturnPostings,
  buildReversalPostings,
  buildSettlementPostings,
  buildTransfer,
  transactionTypes,
  buildWithdrawalPostings,
  type Posting,
  type TransactionType,
} from "./posting.ts";
export { isPriced, quoteTask, type CapabilityPrice } from "./price.ts";
export { matchesPostings, type RecordedSettlement } from "./settlement-record.ts";
export type {
  AmountCode,
  BalanceCode,
  BudgetCode,
  CardCode,
  FundsCode,
  InspectionCode,
} from "./refusals.ts";
export {
  decideSettlement,
  type ReceiptStatus,
  type SettlementDecision,
  type SettlementStatus,
  type StepCount,
} from "./settlement.ts";
