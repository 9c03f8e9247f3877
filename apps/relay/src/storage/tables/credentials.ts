export interface CredentialRow {
  /** The agent that is the subject. */
  agent_id: string;
  /** Increases per agent in the order of arrival. */
  sequence: number;
  credential_id: string;
  type: string;
  /** did:key. */
  issuer: string;
  /** The delegator of a trust credential; empty for all other types. */
  delegator_id: string;
  /** The task for whose receipt the relay issued it. */
  task_id: string | null;
  /** The signed document. */
  body: string;
  issued_at: number;
  expires_at: number | null;
  /** 1 for the newest credential of its kind by an issuer, which is presented. */
  current: 0 | 1;
  revoked_at: number | null;
  revoked_reason: string | null;
}
