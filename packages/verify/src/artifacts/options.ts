import type { VerifierKey } from "@agent/transparency";
import type { NamedKeys } from "../keys/named-keys.ts";

/** The verifier's own values; checks whose value is left out do not run. */
export interface VerifyOptions {
  /**
   * The verifier's clock in ms since the epoch. Credentials, presentations and delegation tokens
   * expire, so without a clock they are refused (`artifact.clock_missing`).
   */
  readonly now?: number | undefined;
  /**
   * The key or keys of which one must have signed: the agent's, the issuer's, the holder's or, for a
   * bundle, a settlement record and an attestation, the relay's. A text is 64 hex digits or a did:key,
   * alone or with its owner (`parseNamedKey`). A key with an owner counts only in that role, and for that
   * id.
   */
  readonly publicKey?: NamedKeys | undefined;
  /**
   * The succession records of the relay's key, oldest first, as its identity document lists them.
   * Signatures by any of these keys are verified with the whole chain. Ignored if it breaks a rule.
   */
  readonly relaySuccession?: readonly unknown[] | undefined;
  /** The task that a receipt, an attestation or a bundle must be about. */
  readonly taskId?: string | undefined;
  /**
   * The transparency log that must hold the artifact, and its witnesses. A bundle contains its proofs; those
   * of any other artifact are in a file, which `verifyLogProof` demands, not `verifyArtifact`.
   */
  readonly log?: LogOptions | undefined;
}

/** The keys of a transparency log that the verifier trusts. */
export interface LogOptions {
  /** The key of the log; with it the artifact must be in that log. */
  readonly logKey?: VerifierKey | undefined;
  /** The witnesses whose cosignatures count. */
  readonly witnesses?: readonly VerifierKey[] | undefined;
  /** The number of witnesses that must have cosigned; 1 by default where witnesses are named, and at least. */
  readonly quorum?: number | undefined;
}

/** The options for kinds that expire. */
export interface TimedOptions extends VerifyOptions {
  readonly now: number;
}
