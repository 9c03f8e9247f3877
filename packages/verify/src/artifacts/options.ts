import type { BoundKeys } from "@agent/receipts";

/** What the verifier knows besides the artifact; what is left out is not asked. */
export interface VerifyOptions {
  /**
   * The verifier's clock in ms since the epoch. Credentials, presentations and delegation tokens are
   * valid for a time only, so without a clock they are refused (`artifact.clock_missing`).
   */
  readonly now?: number | undefined;
  /**
   * The key or keys, as 64 lowercase hex digits, of which one has to have signed: the agent's, the
   * issuer's, the holder's or, of a bundle, a settlement record and an attestation, the relay's.
   */
  readonly publicKey?: BoundKeys | undefined;
  /**
   * The steps by which the relay came to its key, oldest first, as its identity document shows them:
   * what it signed under any of its keys is judged by the whole chain. Ignored when it breaks a rule.
   */
  readonly relaySuccession?: readonly unknown[] | undefined;
  /** The task that a receipt, an attestation or a bundle has to be about. */
  readonly taskId?: string | undefined;
}

/** What a kind that is valid for a time only is judged with. */
export interface TimedOptions extends VerifyOptions {
  readonly now: number;
}
