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
   * The keys, one of which must have signed: a key of the agent, the issuer, the holder or, for a bundle, a
   * settlement record and an attestation, of the relay. A text is 64 hex digits or a did:key, alone or with
   * its owner (`parseNamedKey`). A key with an owner counts only in that role, and for that id.
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
   * The transparency log that must contain the artifact, and its witnesses. A bundle contains its proofs.
   * The proof of any other artifact is in a separate file, which `verifyLogProof` requires but
   * `verifyArtifact` does not.
   */
  readonly log?: LogOptions | undefined;
}

/** The keys of a transparency log that the verifier trusts. */
export interface LogOptions {
  /** The key of the log; if given, the artifact must be in that log. */
  readonly logKey?: VerifierKey | undefined;
  /** The witnesses whose cosignatures count. */
  readonly witnesses?: readonly VerifierKey[] | undefined;
  /**
   * The number of witnesses that must have cosigned; if witnesses are named, at least 1, which is also the
   * default.
   */
  readonly quorum?: number | undefined;
}

/** The options for kinds of artifacts that expire. */
export interface TimedOptions extends VerifyOptions {
  readonly now: number;
}
