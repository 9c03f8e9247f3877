/** Another relay. Amounts are micro-units. */
export interface FederationPeerRow {
  relay_id: string;
  public_key: string;
  endpoint_url: string;
  display_name: string;
  /** A pending one is kept in memory; the row of a removed one keeps its key and what is owed. */
  state: "pending" | "active" | "suspended" | "removed";
  credit_limit: number;
  missed_heartbeats: number;
  /** The newest time that it signed, by its own clock. */
  last_timestamp: number;
  last_heartbeat_at: number | null;
  agent_count: number;
  /** JSON array: how the latest forwards to it went. */
  forwards: string;
  /** What is left of a removal by the operator, which nobody else lifts. */
  operator_removal: "in_force" | "lifted" | null;
  /** JSON array: the features that it named last. */
  features: string;
  /** The highest incarnation that it named. */
  incarnation: number;
  /** Whether the operator added it or allowed it by name: only then does it speak for agents' keys. */
  admitted: 0 | 1;
  /** JSON array: the succession records that led to `public_key` from the key of the first handshake. */
  succession: string;
}

/** A task that was handed to another relay. */
export interface FederationOutboundRow {
  task_id: string;
  relay_id: string;
  /** When to send it again. */
  due_at: number | null;
  /** Counts up with every change, so that none is lost. */
  version: number;
  /** JSON: where it stands, by the rules of `@agent/federation-protocol`. */
  body: string;
  /** JSON array: the way that it goes. */
  route: string;
  /** JSON: that relay's word on the receipt. */
  attestation: string | null;
  /** By when it was over; null while it is not. */
  ended_at: number | null;
  /** What may still come to be owed for it, in micro-units; what is in the outbox counts there. */
  payable: number;
  /** JSON: the trace of the latest request that changed it; null without one. */
  trace: string | null;
}

/** A task that came from another relay. */
export interface FederationInboundRow {
  task_id: string;
  relay_id: string;
  due_at: number | null;
  version: number;
  body: string;
  /** The worker's key that the peer expects; null where it did not say. */
  public_key: string | null;
  settlement_id: string | null;
  /** JSON: the record that it was settled by. */
  settlement: string | null;
  /** By when it came to nothing; null while it has not, and once it is settled. */
  ended_at: number | null;
  /** JSON: the trace of the latest request that changed it; null without one. */
  trace: string | null;
  /** JSON: its forward as it came, without `task_payload`; null unless it goes on to another relay. */
  relayed: string | null;
  /** JSON: the order that the peer signed, until it is settled and forgotten. */
  forward: string | null;
  /** JSON: the peer's signed acceptance of the result. */
  accepted: string | null;
  /** The amount that the peer took a result for and never settled; null where it did not default. */
  defaulted: number | null;
}

/** A settlement on its way to the relay that is to be paid. */
export interface FederationOutboxRow {
  settlement_id: string;
  task_id: string;
  relay_id: string;
  state: string;
  due_at: number | null;
  version: number;
  body: string;
  ended_at: number | null;
  /** What is owed as soon as the peer has booked it, in micro-units; 0 once it is decided. */
  payable: number;
  /** JSON: the trace of the latest request that changed it; null without one. */
  trace: string | null;
}

/** A hold that outlives its task, because another relay has yet to settle or to be paid. */
export interface FederationHoldRow {
  task_id: string;
  amount: number;
}

/** A payment outside the relay that was recorded. */
export interface FederationPaymentRow {
  relay_id: string;
  reference: string;
}

/** The key under which another relay's agent has first worked for this one. */
export interface FederationAgentKeyRow {
  agent_id: string;
  /** The peer that brought the work; empty where an older database did not keep it. */
  relay_id: string;
  /** The key of its latest work. */
  public_key: string;
  /** 1 if the peer brought it as work of an agent of its own. */
  is_own: 0 | 1;
}
