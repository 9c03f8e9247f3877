export { SUITE } from "@agent/crypto";
export { type ChainLink, flattenChain, type ReceiptChain, verdictAt } from "./chain.ts";
export { receiptHash } from "./hash.ts";
export type { BoundKeys } from "./keys.ts";
export { RECEIPT_LIMITS } from "./limits.ts";
export { parseReceipt, type ReceiptFault } from "./parse.ts";
export type { ReceiptRefusal, ReceiptRemark } from "./refusals.ts";
export { type ExecutionReceipt, ExecutionReceiptSchema } from "./schema.ts";
export {
  type SettlementRecord,
  type SettlementRecordBody,
  SettlementRecordSchema,
  type SettlementRefusal,
  signSettlementRecord,
  verifySettlementRecord,
} from "./settlement-record.ts";
export { type ReceiptBody, signReceipt } from "./sign.ts";
export type { Check, Verdict } from "./verdict.ts";
export {
  type ReceiptVerdict,
  verifyReceipt,
  verifyReceiptAsync,
  type VerifyOptions,
} from "./verify.ts";
