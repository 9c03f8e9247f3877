export type { VerifyOptions } from "./artifacts/options.ts";
export {
  BUNDLE_SPEC,
  BundleSchema,
  type EvidenceBundle,
  type KeyRecord,
  type NestedTask,
  type Peer,
  type Posting,
  type Signer,
} from "./bundle/schema.ts";
export {
  formatBundle,
  type Evidence,
  signBundle,
  type BundleSigner,
} from "./bundle/sign-bundle.ts";
export { verifyBundle } from "./bundle/verify-bundle.ts";
export type { Claim } from "./claim/claim.ts";
export { getClaim } from "./claim/get-claim.ts";
export type { ArtifactKind } from "./kind.ts";
export { type Outcome, getOutcome } from "./outcome.ts";
export { detectKind } from "./detect-kind.ts";
export type {
  ArtifactRefusal,
  BundleWarning,
  BundleRefusal,
  GeneralRefusal,
  ResultFileRefusal,
} from "./refusals.ts";
export { type ReportOptions, formatReport } from "./format-report.ts";
export { type FileDigest, verifyResultFile } from "./result-file.ts";
export { type ProofLevel, type ProofLevelName, PROOF_LEVELS } from "./proof-levels.ts";
export type { CheckResult, Verdict } from "./verdict.ts";
export { verifyArtifact } from "./verify-artifact.ts";
