/** A process of the relay. Its times are those of the database. */
export interface ProcessRow {
  process_id: string;
  /** The name that the operator gave it. */
  name: string;
  version: string;
  started_at: number;
  /** The time at which it counts as dead unless it renews its row. */
  until: number;
}

/** Work that one process does for all. */
export interface LeaseRow {
  name: string;
  holder: string;
  /** Grows with each change of the holder. */
  fence: number;
  until: number;
}

/** The devices of an agent that are connected to a process. */
export interface PresenceRow {
  agent_id: string;
  process_id: string;
  /** JSON: what each device may be sent. */
  devices: string;
}

/** Something that other processes must read again or do. */
export interface ChangeRow {
  id: number;
  /** The transaction that wrote it. */
  xid: number;
  /** The process that wrote it. */
  origin: string;
  kind: string;
  key: string;
  at: number;
}

/** Something that may be done only once, or a number of times, whichever process is asked. */
export interface SeenRow {
  kind: string;
  key: string;
  count: number;
  forget_at: number;
}

/** A relay that has proposed to become a peer and has not confirmed yet. */
export interface PendingPeerRow {
  relay_id: string;
  /** JSON. */
  body: string;
  forget_at: number;
}

/** The prices that an agent's card showed to one of its readers last. */
export interface ShownOfferRow {
  reader: string;
  agent_id: string;
  /** JSON. */
  offer: string;
  forget_at: number;
}
