export interface AgentRow {
  agent_id: string;
  /** Null until the agent was bootstrapped. */
  public_key: string | null;
  endpoint_url: string | null;
  /** JSON array: what the agent registered with; a listing may add more. */
  capabilities: string;
  metadata: string;
  /** Null while the owner has not said. */
  federation_visible: 0 | 1 | null;
  registered: 0 | 1;
  created_at: number;
  last_seen_at: number;
  revoked_at: number | null;
}

export interface AgentKeyRow {
  agent_id: string;
  public_key: string;
  valid_from: number;
  valid_until: number | null;
  /** The record by which this key took over; null for the first key. */
  succession: string | null;
}

export interface DeviceRow {
  device_id: string;
  agent_id: string;
  public_key: string;
  device_name: string | null;
  /** Space-separated. */
  scopes: string;
  registered_at: number;
  revoked_at: number | null;
}

/** A device as it is read. */
export interface StoredDeviceRow extends DeviceRow {
  /** JSON array: what the device announced last; null while it never did. */
  capabilities: string | null;
}

export interface AgentCapabilityRow {
  capability: string;
  agent_id: string;
}

/** Triggers of `agent_capabilities` keep it. */
export interface CapabilityCountRow {
  capability: string;
  agents: number;
}

export interface ListingRow {
  agent_id: string;
  listing_id: string;
  body: string;
  updated_at: number;
}
