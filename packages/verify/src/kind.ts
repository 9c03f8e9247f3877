/** The kinds of artifacts that can be verified. */
export type ArtifactKind =
  | "bundle"
  | "receipt"
  | "credential"
  | "presentation"
  | "ledger"
  | "succession"
  | "relay_succession"
  | "settlement"
  | "attestation"
  | "no_show"
  | "delegation_token"
  | "log_proof"
  | "checkpoint";
