/** A call that an agent asked a quorum about. */
export interface ApprovalRow {
  agent_id: string;
  approval_id: string;
  /** Of the relay's making, by time. */
  sequence: string;
  tool_name: string;
  args_hash: string;
  quorum_required: number;
  status: "pending" | "approved" | "denied" | "used";
  created_at: number;
  resolved_at: number | null;
}

/** One for each approver; its last three members are null until it has voted. */
export interface ApprovalVoteRow {
  agent_id: string;
  approval_id: string;
  approver_id: string;
  sequence: string;
  decision: "approve" | "deny" | null;
  signature: string | null;
  voted_at: number | null;
}
