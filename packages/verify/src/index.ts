export type { VerifyOptions } from "./artifacts/options.ts";
export {
  BUNDLE_SPEC,
  BundleSchema,
  type EvidenceBundle,
  type KeyTerm,
  type NestedTask,
  type Peer,
  type Posting,
  type Signer,
} from "./bundle/schema.ts";
export { bundleText, type Evidence, signBundle, type Voucher } from "./bundle/sign.ts";
export { verifyBundle } from "./bundle/verify.ts";
export type { Claim } from "./claim/claim.ts";
export { claimOf } from "./claim/claim-of.ts";
export type { ArtifactKind } from "./kind.ts";
export { type Outcome, outcomeOf } from "./outcome.ts";
export { recognise } from "./recognise.ts";
export type {
  ArtifactRefusal,
  BundleRemark,
  BundleRefusal,
  GeneralRefusal,
  ResultFileRefusal,
} from "./refusals.ts";
export { type ReportOptions, reportOf } from "./report.ts";
export { type FileDigest, verifyResultFile } from "./result-file.ts";
export { type Rung, type RungName, RUNGS } from "./rungs.ts";
export type { Check, Verdict } from "./verdict.ts";
export { verifyArtifact } from "./verify-artifact.ts";
