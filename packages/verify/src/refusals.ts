import type { CredentialRefusal, PresentationRefusal } from "@agent/credentials";
import type { RelayChainCode } from "@agent/crypto";
import type { LedgerRefusal } from "@agent/ledger";
import type { CheckpointRefusal, InclusionResult } from "@agent/transparency";
import type {
  AttestationRefusal,
  DecisionRefusal,
  DelegationRefusal,
  NoShowRefusal,
  OutcomeRefusal,
  ReceiptRefusal,
  SettlementRefusal,
  VerdictRefusal,
} from "@agent/receipts";

/** The refusals that do not depend on the kind. */
export type GeneralRefusal =
  | "artifact.unreadable"
  | "artifact.unrecognised"
  /** Only of the command: the verifier itself failed, which says nothing about the artifact. */
  | "artifact.verifier_failed"
  | "artifact.clock_missing"
  | "artifact.key_unbound";

/** Every reason for which an evidence bundle is not valid, in addition to those of its parts. */
export type BundleRefusal =
  | "bundle.not_canonical"
  | "bundle.malformed"
  | "bundle.spec"
  | "bundle.suite"
  | "bundle.signature_invalid"
  | "bundle.relay_succession_broken"
  | "bundle.key_history_broken"
  | "bundle.key_not_in_force"
  | "bundle.task_mismatch"
  | "bundle.wrong_executor"
  | "bundle.status_mismatch"
  | "bundle.routing_mismatch"
  | "bundle.credential_foreign"
  | "bundle.settlement_mismatch"
  | "bundle.no_show_mismatch"
  | "bundle.inspection_mismatch"
  | "bundle.postings_mismatch"
  | "bundle.erased";

/** The warnings about a bundle that stays valid. */
export type BundleWarning = "bundle.hop_mismatch";

/** Every reason for which a proof of a transparency log is not valid. */
export type LogRefusal =
  | CheckpointRefusal
  | Extract<InclusionResult, { readonly ok: false }>["code"]
  | "log.entry_malformed"
  | "log.entry_mismatch"
  | "log.entry_missing";

/** The reasons for which a file is not the one that the result of a receipt refers to. */
export type ResultFileRefusal = "result.no_reference" | "result.file_mismatch";

/** Every reason for which an artifact is not valid. */
export type ArtifactRefusal =
  | GeneralRefusal
  | BundleRefusal
  | ResultFileRefusal
  | LogRefusal
  | ReceiptRefusal
  | CredentialRefusal
  | PresentationRefusal
  | LedgerRefusal
  | RelayChainCode
  | SettlementRefusal
  | NoShowRefusal
  | VerdictRefusal
  | DecisionRefusal
  | OutcomeRefusal
  | AttestationRefusal
  | DelegationRefusal;
