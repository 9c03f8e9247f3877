export { SUITE } from "@agent/crypto";
export {
  type VerifyAttestationOptions,
  type AttestationRefusal,
  type RelayAttestation,
  type RelayAttestationBody,
  RelayAttestationSchema,
  signAttestation,
  verifyAttestation,
} from "./attestation.ts";
export { isBoundToTask } from "./binding.ts";
export { type ChainLink, flattenChain, type ReceiptChain, getVerdictAt } from "./chain.ts";
export { isWithinScope, parseScope } from "./delegated-scope.ts";
export {
  attenuateDelegationToken,
  type Attenuation,
  DELEGATION_LIMITS,
  type DelegationToken,
  type DelegationTokenBody,
  DelegationTokenSchema,
  signDelegationToken,
} from "./delegation-token.ts";
export { eraseNestedTexts, eraseTexts, listNestedSignatures } from "./erase-texts.ts";
export { hashReceipt } from "./hash.ts";
export { isKeyInForce, type KeyValidity, type ReceiptTimes } from "./key-in-force.ts";
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
export type { ReceiptRefusal, ReceiptWarning } from "./refusals.ts";
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
export type { CheckResult, Verdict } from "@agent/crypto";
export {
  type ReceiptVerdict,
  verifyReceipt,
  verifyReceiptAsync,
  type VerifyReceiptOptions,
} from "./verify.ts";
export {
  parseDelegationChain,
  type VerifyDelegationOptions,
  type DelegationRefusal,
  getEffectiveRight,
  type EffectiveRight,
  verifyDelegationToken,
} from "./verify-delegation-token.ts";
