export { SUITE } from "@agent/crypto";
export {
  type AttestationOptions,
  type AttestationRefusal,
  type RelayAttestation,
  type RelayAttestationBody,
  RelayAttestationSchema,
  signAttestation,
  verifyAttestation,
} from "./attestation.ts";
export { isBoundTo } from "./binding.ts";
export { type ChainLink, flattenChain, type ReceiptChain, verdictAt } from "./chain.ts";
export { staysInScope, toolsInScope } from "./delegated-scope.ts";
export {
  attenuateDelegationToken,
  type Attenuation,
  DELEGATION_LIMITS,
  type DelegationToken,
  type DelegationTokenBody,
  DelegationTokenSchema,
  signDelegationToken,
} from "./delegation-token.ts";
export { eraseNested, eraseTexts, nestedSignatures } from "./erase-texts.ts";
export { receiptHash } from "./hash.ts";
export { isKeyInForce, type KeyTerm, type ReceiptTimes } from "./key-in-force.ts";
export type { BoundKeys } from "./keys.ts";
export { RECEIPT_LIMITS } from "./limits.ts";
export {
  type NoShowRecord,
  type NoShowRecordBody,
  NoShowRecordSchema,
  type NoShowRefusal,
  signNoShowRecord,
  verifyNoShowRecord,
} from "./no-show-record.ts";
export { parseReceipt, type ReceiptFault } from "./parse.ts";
export type { ParsedReceipt } from "./parsed-receipt.ts";
export type { ReceiptRefusal, ReceiptRemark } from "./refusals.ts";
export {
  parseResultReference,
  type ReferenceRefusal,
  type ResultReference,
} from "./result-reference.ts";
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
export type { Check, Verdict } from "@agent/crypto";
export {
  type ReceiptVerdict,
  verifyReceipt,
  verifyReceiptAsync,
  type VerifyOptions,
} from "./verify.ts";
export {
  delegationChain,
  type DelegationOptions,
  type DelegationRefusal,
  effectiveRight,
  type EffectiveRight,
  verifyDelegationToken,
} from "./verify-delegation-token.ts";
