import { signJson } from "@agent/crypto";
import { approvalVote, type Approval, type ApprovalDecision } from "@agent/wire";

export interface VoteOptions {
  readonly approverId: string;
  /** The seed of one of the approver's keys, 32 bytes. */
  readonly secretKey: Uint8Array;
  readonly decision: ApprovalDecision;
}

/**
 * The body of `voteOnApproval`: a vote that is bound to this call of this agent, and to the quorum that
 * was asked; `signature` is base64url over the JCS of all that it is bound to.
 */
export function signVote(
  approval: Pick<
    Approval,
    "approval_id" | "agent_id" | "args_hash" | "quorum_required" | "quorum_approvers"
  >,
  { approverId: approver_id, secretKey, decision }: VoteOptions,
): { approver_id: string; decision: ApprovalDecision; signature: string } {
  const { signature } = signJson(approvalVote(approval, { approver_id, decision }), secretKey);
  return { approver_id, decision, signature };
}
