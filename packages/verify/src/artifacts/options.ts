import type { BoundKeys } from "@agent/receipts";

/** The verifier's own values; checks whose value is left out do not run. */
export interface VerifyOptions {
  /**
   * The verifier's clock in ms since the epoch. Credentials, presentations and delegation tokens
   * expire, so without a clock they are refused (`artifact.clock_missing`).
   */
  readonly now?: number | undefined;
  /**
   * The key or keys, as 64 lowercase hex digits, of which one must have signed: the agent's, the
   * issuer's, the holder's or, for a bundle, a settlement record and an attestation, the relay's.
   */
  readonly publicKey?: BoundKeys | undefined;
  /**
   * The succession records of the relay's key, oldest first, as its identity document lists them.
   * Signatures by any of these keys are verified with the whole chain. Ignored if it breaks a rule.
   */
  readonly relaySuccession?: readonly unknown[] | undefined;
  /** The task that a receipt, an attestation or a bundle must be about. */
  readonly taskId?: string | undefined;
}

/** The options for kinds that expire. */
export interface TimedOptions extends VerifyOptions {
  readonly now: number;
}
