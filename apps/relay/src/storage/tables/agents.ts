export interface AgentRow {
  agent_id: string;
  /** Null until the agent was bootstrapped. */
  public_key: string | null;
  endpoint_url: string | null;
  /** JSON array of the registered capabilities; a listing may add more. */
  capabilities: string;
  metadata: string;
  /** Null while the owner has not set it. */
  federation_visible: 0 | 1 | null;
  registered: 0 | 1;
  created_at: number;
  last_seen_at: number;
  /**
   * When its endpoint was last found without an MCP server, or it closed its last socket in order; null after a
   * later sign of life.
   */
  unreachable_at: number | null;
  revoked_at: number | null;
}

/** The stored row of an agent. */
export interface StoredAgentRow extends AgentRow {
  /** By which agents sort in discovery; see `toPlace`. */
  place: string;
}

export interface AgentKeyRow {
  agent_id: string;
  public_key: string;
  valid_from: number;
  valid_until: number | null;
  /** The succession record of this key; null for the first key. */
  succession: string | null;
}

/** A key that its holder has proven by a signature for this agent. A key is proven under at most one id. */
export interface KeyProofRow {
  public_key: string;
  agent_id: string;
  proven_at: number;
}

export interface DeviceRow {
  device_id: string;
  agent_id: string;
  public_key: string;
  device_name: string | null;
  /** Separated by spaces. */
  scopes: string;
  registered_at: number;
  revoked_at: number | null;
}

/** The row of a device as read. */
export interface StoredDeviceRow extends DeviceRow {
  /** JSON array of the last announced capabilities; null before the first announcement. */
  capabilities: string | null;
}

export interface AgentCapabilityRow {
  capability: string;
  agent_id: string;
  /** That of the agent; updated by a trigger of `agents`. */
  place: string;
}

/** Updated by triggers of `agent_capabilities`. */
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
