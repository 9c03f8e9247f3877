/** The documents that have a proof, as their codes name them. */
export type DocumentKind = "credential" | "presentation";

/** The reasons for which a document of either kind or its proof is refused. */
export type ProofRefusal<K extends DocumentKind> =
  `${K}.${"malformed" | "suite" | "purpose" | "key_invalid" | "wrong_signer" | "proof_context" | "signature_invalid" | "expired"}`;

/** Every reason for which a credential is not valid. */
export type CredentialRefusal =
  | ProofRefusal<"credential">
  | "credential.not_yet_valid"
  | "credential.revoked"
  | "credential.subject_malformed";

/** The warnings about a credential that stays valid. */
export type CredentialWarning = "credential.status_unchecked" | "credential.type_unknown";

/** Every reason for which a presentation is not valid. */
export type PresentationRefusal =
  | ProofRefusal<"presentation">
  | "presentation.challenge_mismatch"
  | "presentation.audience_mismatch"
  | "presentation.credential_invalid";
