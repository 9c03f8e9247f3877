/** Limits that issuers and verifiers apply. */
export const CREDENTIAL_LIMITS = {
  /** The default validity of a credential, in ms. */
  defaultValidityMs: 3_600_000,
  /** The maximum number of credentials in a presentation; more are refused with `presentation.malformed`. */
  maxCredentials: 256,
} as const;
