export interface RelayIdentityRow {
  one: 1;
  relay_id: string;
  /** Seed as hex, or the sealed text when a passphrase is set. */
  secret_key: string;
  created_at: number;
}

/** One step of the relay's key; the first is at position 0. */
export interface RelaySuccessionRow {
  position: number;
  /** JSON: the record, as both keys signed it. */
  record: string;
}

/** A token that counts no more, wherever (`revoked`) or where it counts once (`used`). */
export interface SpentTokenRow {
  agent_id: string;
  jti: string;
  kind: "used" | "revoked";
  /** When no token of this id can be valid any longer. */
  forget_at: number;
}
