export {
  type VerifyAttestationOptions,
  type AttestationRefusal,
  type RelayAttestation,
  type RelayAttestationBody,
  RelayAttestationSchema,
  signAttestation,
  verifyAttestation,
} from "./records/attestation.ts";
export { isBoundToTask } from "./checks/is-bound-to-task.ts";
export { type ChainLink, flattenChain, type ReceiptChain, getVerdictAt } from "./checks/chain.ts";
export { isWithinScope } from "./delegation/delegation-scope.ts";
export {
  attenuateDelegationToken,
  type Attenuation,
  DELEGATION_LIMITS,
  type DelegationToken,
  type DelegationTokenBody,
  DelegationTokenSchema,
  signDelegationToken,
} from "./delegation/delegation-token.ts";
export { eraseNestedTexts, eraseTexts, listNestedSignatures } from "./erase-texts.ts";
export { hashReceipt } from "./hash-receipt.ts";
export {
  type DatedKey,
  filterKeysAt,
  filterKeysInForce,
  type KeyValidity,
  type ReceiptTimes,
} from "./keys/is-key-in-force.ts";
export type { BoundKeys } from "./keys/candidate-keys.ts";
export { findSigningKey } from "./keys/find-signing-key.ts";
export { getIssuerKey, listSigningKeys } from "./keys/issuer-key.ts";
export { RECEIPT_LIMITS } from "./limits.ts";
export {
  type NoShowRecord,
  type NoShowRecordBody,
  NoShowRecordSchema,
  type NoShowRefusal,
  signNoShowRecord,
  verifyNoShowRecord,
} from "./records/no-show-record.ts";
export {
  hashInspectionStatement,
  type VerifyStatementOptions,
} from "./records/inspection-statement.ts";
export {
  type VerdictRecord,
  type VerdictRecordBody,
  VerdictRecordSchema,
  type VerdictRefusal,
  signVerdictRecord,
  verifyVerdictRecord,
} from "./records/verdict-record.ts";
export {
  type DecisionRecord,
  type DecisionRecordBody,
  DecisionRecordSchema,
  type DecisionRefusal,
  signDecisionRecord,
  verifyDecisionRecord,
} from "./records/decision-record.ts";
export {
  hashOutcomeRecord,
  type OutcomeRecord,
  type OutcomeRecordBody,
  OutcomeRecordSchema,
  type OutcomeRefusal,
  signOutcomeRecord,
  type VerifyOutcomeOptions,
  verifyOutcomeRecord,
} from "./records/outcome-record.ts";
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
} from "./records/settlement-record.ts";
export { type ReceiptBody, signReceipt } from "./checks/sign.ts";
export { isTimeSpanAllowed, type TimeSpan } from "./checks/time-span.ts";
export type { CheckResult, Verdict } from "@agent/crypto";
export {
  type ReceiptVerdict,
  verifyReceipt,
  verifyReceiptAsync,
  type VerifyReceiptOptions,
} from "./checks/verify.ts";
export {
  parseDelegationChain,
  type VerifyDelegationOptions,
  type DelegationRefusal,
  getEffectiveRight,
  type EffectiveRight,
  verifyDelegationToken,
} from "./delegation/verify-delegation-token.ts";
