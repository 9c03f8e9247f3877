export interface PairingRow {
  pairing_id: string;
  agent_id: string;
  code: string;
  status: "pending" | "claimed" | "approved" | "denied";
  device_name: string | null;
  public_key: string | null;
  device_id: string | null;
  expires_at: number;
}
