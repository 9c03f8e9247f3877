export { issueCredential, type IssueOptions } from "./issue.ts";
export type { CredentialVerdict, PresentationVerdict } from "./judge.ts";
export { CREDENTIAL_LIMITS } from "./limits.ts";
export { type DocumentFault, parseCredential } from "./parse.ts";
export { createPresentation, type PresentOptions } from "./present.ts";
export type { CredentialRefusal, CredentialRemark, PresentationRefusal } from "./refusals.ts";
export {
  CREDENTIALS_CONTEXT,
  type DataIntegrityProof,
  type VerifiableCredential,
  VerifiableCredentialSchema,
  type VerifiablePresentation,
  VerifiablePresentationSchema,
} from "./schema.ts";
export {
  type CredentialSubject,
  type CredentialType,
  credentialTypesOf,
  SUBJECT_SCHEMAS,
} from "./subjects.ts";
export type { Check, Verdict } from "@agent/crypto";
export {
  verifyCredential,
  verifyCredentialAsync,
  type VerifyOptions,
  verifyPresentation,
  verifyPresentationAsync,
  type VerifyPresentationOptions,
} from "./verify.ts";
