/** A log that the relay cosigns, with the head that it cosigned last. A row is never removed. */
export interface WitnessedRow {
  origin: string;
  /** SHA-256 of the origin in hex digits. */
  origin_hash: string;
  /** The key of the log, which never changes. */
  vkey: string;
  /** The relay that states the log as its own; null for a log that only the operator has named. */
  relay_id: string | null;
  pinned_at: number;
  /** 0 before the first head. */
  size: number;
  root: Uint8Array;
  /** The checkpoint with the lines of the log and of this relay; empty before the first head. */
  note: string;
  cosigned_at: number;
}

/** A checkpoint that a log signed but that contradicts the one cosigned last. */
export interface WitnessEvidenceRow {
  /** SHA-256 of the offered checkpoint in hex digits, so that none is kept twice. */
  evidence_id: string;
  origin: string;
  code: "log.equivocation" | "log.consistency_invalid";
  held: string;
  offered: string;
  seen_at: number;
}

/** The witness that a peer offers. */
export interface PeerWitnessRow {
  relay_id: string;
  vkey: string;
  prefix: string;
}
