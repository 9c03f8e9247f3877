/** Bounds that issuers and verifiers keep to. */
export const CREDENTIAL_LIMITS = {
  /** How long a credential is valid unless its issuer says otherwise, in ms. */
  defaultValidityMs: 3_600_000,
  /** Credentials in one presentation; one more is `presentation.malformed`. */
  maxCredentials: 256,
} as const;
