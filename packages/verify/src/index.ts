export type { LogOptions, VerifyOptions } from "./artifacts/options.ts";
export {
  BUNDLE_SPEC,
  type BundleLog,
  BundleSchema,
  type EvidenceBundle,
  type KeyRecord,
  type NestedTask,
  type Peer,
  type Signer,
} from "./bundle/schema.ts";
export type { BundleInspection } from "./bundle/inspection/schema.ts";
export type { BundlePosting } from "./bundle/posting-schema.ts";
export {
  listKeyParts,
  type IsSignedBy,
  listLoggableParts,
  type LoggableEvidence,
  type LoggablePart,
} from "./bundle/list-log-entries.ts";
export {
  formatBundle,
  type Evidence,
  signBundle,
  type BundleSigner,
} from "./bundle/sign-bundle.ts";
export { verifyBundle } from "./bundle/verify-bundle.ts";
export type { Claim } from "./claim/claim.ts";
export { getClaim } from "./claim/get-claim.ts";
export { findLogPlace, type LogPlace } from "./log/find-log-place.ts";
export {
  type LogOptionTexts,
  parseLogOptions,
  type ParseLogOptionsResult,
} from "./log/parse-log-options.ts";
export { verifyLogProof } from "./log/verify-log-proof.ts";
export type { KeyRole, NamedKey, NamedKeys } from "./keys/named-keys.ts";
export { formatNamedKey, NAMED_KEY_FORM, parseNamedKey } from "./keys/parse-named-key.ts";
export type { ArtifactKind } from "./kind.ts";
export { type Outcome, getOutcome } from "./outcome.ts";
export { detectKind } from "./detect-kind.ts";
export type {
  ArtifactRefusal,
  BundleWarning,
  BundleRefusal,
  GeneralRefusal,
  LogRefusal,
  ResultFileRefusal,
} from "./refusals.ts";
export { type ReportOptions, formatReport } from "./format-report.ts";
export { type FileDigest, verifyResultFile } from "./result-file.ts";
export { type ProofLevel, type ProofLevelName, PROOF_LEVELS } from "./proof-levels.ts";
export type { CheckResult, Verdict } from "./verdict.ts";
export { verifyArtifact } from "./verify-artifact.ts";
