export { MAX_AMOUNT, fromMicro, parseAmount, toMicro, type AmountResult } from "./amount.ts";
export {
  FEES,
  MAX_BALANCE,
  WORLD,
  accountOf,
  availableBalance,
  checkBalance,
  checkCovered,
  type Account,
} from "./account.ts";
export {
  heldCardMoney,
  MAX_CARD_LOTS,
  moveCardMoney,
  type CardHolding,
  type CardLot,
} from "./card-money.ts";
export { newerDispute, reversedAmount, type CardDispute } from "./card-reversal.ts";
export { unpassedPostings } from "./clearing.ts";
export { allocatePlan, lockAmount, type PlanAllocation, type PlanStep } from "./allocation.ts";
export { feeChain, isFeeRate, rateToPpm, splitFee, type FeeSplit } from "./fee.ts";
export { MICRO, asMicro, negate, type Micro } from "./money.ts";
export {
  applyPostings,
  depositPostings,
  holdPostings,
  isBalanced,
  isReversal,
  payoutPostings,
  releasePostings,
  returnPostings,
  reversalPostings,
  settlementPostings,
  transactionTypes,
  withdrawalPostings,
  type Posting,
  type TransactionType,
} from "./posting.ts";
export { estimateCost, isPriced, quoteTask, type CapabilityPrice } from "./price.ts";
export { matchesPostings, type RecordedSettlement } from "./record.ts";
export type { AmountCode, BalanceCode, BudgetCode, CardCode, CoverCode } from "./refusals.ts";
export {
  decideSettlement,
  settlementAmount,
  type ReceiptStatus,
  type SettlementDecision,
  type SettlementStatus,
  type StepCount,
} from "./settlement.ts";
