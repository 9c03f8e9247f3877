import type { CredentialRefusal, PresentationRefusal } from "@agent/credentials";
import type { RelayChainCode } from "@agent/crypto";
import type { LedgerRefusal } from "@agent/ledger";
import type {
  AttestationRefusal,
  DelegationRefusal,
  NoShowRefusal,
  ReceiptRefusal,
  SettlementRefusal,
} from "@agent/receipts";

/** Why something is not valid before its kind has a say, or beyond it. */
export type GeneralRefusal =
  | "artifact.unreadable"
  | "artifact.unrecognised"
  | "artifact.clock_missing"
  | "artifact.key_unbound";

/** Every reason for which an evidence bundle is not valid, beside those of what it holds. */
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
  | "bundle.postings_mismatch"
  | "bundle.erased";

/** What a verdict points out about a bundle that stays valid. */
export type BundleWarning = "bundle.hop_mismatch";

/** Why a file is not the one that the result of a receipt refers to. */
export type ResultFileRefusal = "result.no_reference" | "result.file_mismatch";

/** Every reason for which an artifact is not valid. */
export type ArtifactRefusal =
  | GeneralRefusal
  | BundleRefusal
  | ResultFileRefusal
  | ReceiptRefusal
  | CredentialRefusal
  | PresentationRefusal
  | LedgerRefusal
  | RelayChainCode
  | SettlementRefusal
  | NoShowRefusal
  | AttestationRefusal
  | DelegationRefusal;
