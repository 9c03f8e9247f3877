export interface RelayIdentityRow {
  one: 1;
  relay_id: string;
  /** Seed as hex, or the sealed text when a passphrase is set. */
  secret_key: string;
  created_at: number;
  /** 1 while an earlier key or erased texts may still be readable in the files. */
  scrub_pending: 0 | 1;
}

/** One succession of the relay's key. The first is at position 0. */
export interface RelaySuccessionRow {
  position: number;
  /** JSON: the record as both keys signed it. */
  record: string;
}

/** A token that is refused everywhere (`revoked`) or by single-use operations (`used`). */
export interface SpentTokenRow {
  agent_id: string;
  jti: string;
  kind: "used" | "revoked";
  /** The time after which no token of this id can be valid. */
  forget_at: number;
}
