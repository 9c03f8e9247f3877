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
  /** Used only by the command: the verifier itself failed, which says nothing about the artifact. */
  | "artifact.verifier_failed"
  | "artifact.clock_missing"
  | "artifact.key_unbound";

/** The refusal codes of an evidence bundle, in addition to those of its parts. */
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

/** The refusal codes of a transparency log proof. */
export type LogRefusal =
  | CheckpointRefusal
  | Extract<InclusionResult, { readonly ok: false }>["code"]
  | "log.entry_malformed"
  | "log.entry_mismatch"
  | "log.entry_missing";

/** The refusal codes of a file that is not the one that a receipt's result refers to. */
export type ResultFileRefusal = "result.no_reference" | "result.file_mismatch";

/** All refusal codes of an artifact. */
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
