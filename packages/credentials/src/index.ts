export { issueCredential, type IssueCredentialOptions } from "./issue-credential.ts";
export type { CredentialVerdict, PresentationVerdict } from "./checks/check-credential.ts";
export { CREDENTIAL_LIMITS } from "./limits.ts";
export { type DocumentFault, parseCredential } from "./parse.ts";
export { createPresentation, type CreatePresentationOptions } from "./create-presentation.ts";
export type { CredentialRefusal, CredentialWarning, PresentationRefusal } from "./refusals.ts";
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
  listCredentialTypes,
  SUBJECT_SCHEMAS,
} from "./subjects.ts";
export type { CheckResult, Verdict } from "@agent/crypto";
export {
  verifyCredential,
  verifyCredentialAsync,
  type VerifyCredentialOptions,
  verifyPresentation,
  verifyPresentationAsync,
  type VerifyPresentationOptions,
} from "./checks/verify.ts";
