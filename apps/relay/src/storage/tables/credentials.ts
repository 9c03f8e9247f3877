export interface CredentialRow {
  /** The agent that it is about. */
  agent_id: string;
  /** Counts up per agent, in the order in which they came. */
  sequence: number;
  credential_id: string;
  type: string;
  /** did:key. */
  issuer: string;
  /** The delegator of a trust credential; empty for all other types. */
  delegator_id: string;
  /** The task whose receipt the relay issued it for. */
  task_id: string | null;
  /** The signed document. */
  body: string;
  issued_at: number;
  expires_at: number | null;
  /** 1 for the newest that an issuer says of its kind: that one is presented. */
  current: 0 | 1;
  revoked_at: number | null;
  revoked_reason: string | null;
}
