import type { Micro } from "@agent/budget";

/** Another relay. Amounts are micro-units. */
export interface FederationPeerRow {
  relay_id: string;
  public_key: string;
  endpoint_url: string;
  display_name: string;
  /** A pending peer is kept in memory. The row of a removed one keeps its key and the owed amount. */
  state: "pending" | "active" | "suspended" | "removed";
  credit_limit: Micro;
  /** Whether the operator set this limit, so that a new handshake leaves it unchanged. */
  credit_set: 0 | 1;
  missed_heartbeats: number;
  /** The newest time that it signed, by its own clock. */
  last_timestamp: number;
  last_heartbeat_at: number | null;
  agent_count: number;
  /** JSON array of the outcomes of the latest forwards. */
  forwards: string;
  /** Whether the operator removed it, so that only the operator can add it again. */
  operator_removal: "in_force" | null;
  /** JSON array of the features that it last named. */
  features: string;
  /** The highest incarnation that it named. */
  incarnation: number;
  /** Whether the operator added or allowed it by name. Only then are its statements about keys trusted. */
  admitted: 0 | 1;
  /** JSON array of the succession records from the key of the first handshake to `public_key`. */
  succession: string;
}

/** A task that was forwarded to another relay. */
export interface FederationOutboundRow {
  task_id: string;
  relay_id: string;
  /** The time of the next attempt. */
  due_at: number | null;
  /** Increases with every change, so that no update is lost. */
  version: number;
  /** JSON: its state by the rules of `@agent/federation-protocol`. */
  body: string;
  /** JSON array of the relays on its route. */
  route: string;
  /** JSON: the attestation of that relay for the receipt. */
  attestation: string | null;
  /** The time of its end; null before. */
  ended_at: number | null;
  /** The amount that may still become owed for it, in micro-units; amounts in the outbox count there. */
  payable: Micro;
  /** JSON: the trace of the latest request that changed it; null without one. */
  trace: string | null;
  /** The time at which it went to that relay; null in rows of earlier versions. */
  forwarded_at: number | null;
}

/** A task that was received from another relay. */
export interface FederationInboundRow {
  task_id: string;
  relay_id: string;
  due_at: number | null;
  version: number;
  body: string;
  /** The executor's key that the peer expects; null if it named none. */
  public_key: string | null;
  settlement_id: string | null;
  /** JSON: the settlement record. */
  settlement: string | null;
  /** The time at which it ended without a settlement; null otherwise. */
  ended_at: number | null;
  /** JSON: the trace of the latest request that changed it; null without one. */
  trace: string | null;
  /** JSON: its forward as received, without `task_payload`; null unless it is forwarded again. */
  relayed: string | null;
  /** JSON: the order that the peer signed, until it is settled and purged. */
  forward: string | null;
  /** JSON: the peer's signed acceptance of the result. */
  accepted: string | null;
  /** The amount of an accepted result that the peer never settled; null without a default. */
  defaulted: Micro | null;
  /** The amount of a result that the peer has not answered or settled in time; null without one. */
  undecided: Micro | null;
  /** The amount of a result that the peer refused when it may have been too late; null without one. */
  refused: Micro | null;
  /** The time of its arrival; null in rows of earlier versions. */
  received_at: number | null;
}

/** A settlement that must be sent to the relay that is paid. */
export interface FederationOutboxRow {
  settlement_id: string;
  task_id: string;
  relay_id: string;
  state: string;
  due_at: number | null;
  version: number;
  body: string;
  ended_at: number | null;
  /** The amount that is owed once the peer has booked it, in micro-units; 0 after the decision. */
  payable: Micro;
  /** JSON: the trace of the latest request that changed it; null without one. */
  trace: string | null;
}

/** A hold that outlives its task until another relay has settled or was paid. */
export interface FederationHoldRow {
  task_id: string;
  amount: Micro;
}

/** A recorded payment outside the relay. */
export interface FederationPaymentRow {
  relay_id: string;
  reference: string;
}

/** The key under which another relay's agent first worked for this relay. */
export interface FederationAgentKeyRow {
  agent_id: string;
  /** The peer that delivered the work; empty if an older database did not record it. */
  relay_id: string;
  /** The key of its latest work. */
  public_key: string;
  /** 1 if the peer delivered it as the work of its own agent. */
  is_own: 0 | 1;
}
