/** A call that an agent submitted to a quorum. */
export interface ApprovalRow {
  agent_id: string;
  approval_id: string;
  /** Made by the relay; sorts by time. */
  sequence: string;
  tool_name: string;
  args_hash: string;
  quorum_required: number;
  status: "pending" | "approved" | "denied" | "used";
  created_at: number;
  resolved_at: number | null;
  /** JSON, while the approval is pending; null if the agent did not show them. */
  arguments: string | null;
}

/** One row for each approver. Decision, signature and time are null until it has voted. */
export interface ApprovalVoteRow {
  agent_id: string;
  approval_id: string;
  approver_id: string;
  sequence: string;
  decision: "approve" | "deny" | null;
  signature: string | null;
  voted_at: number | null;
  /** 1 where the call was decided without this vote. */
  closed: 1 | null;
  /** The key that signed it; null before it has voted, and in votes of earlier versions. */
  public_key: string | null;
}
