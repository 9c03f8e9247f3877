import type { Approval } from "@agent/wire";

/** The votes for an approval, and whether this approver may still vote on it. */
export interface VoteState {
  readonly approving: number;
  readonly mayVote: boolean;
  readonly ownDecision: string | undefined;
}

/** The members of an approval that its votes depend on. */
export type VotedApproval = Pick<Approval, "quorum_approvers"> & {
  readonly status: string;
  readonly votes: readonly { readonly approver_id: string; readonly decision: string }[];
};

export function describeVote(approval: VotedApproval, approverId: string): VoteState {
  const { votes, quorum_approvers, status } = approval;
  const approving = votes.filter(({ decision }) => decision === "approve").length;
  const ownDecision = votes.find(({ approver_id }) => approver_id === approverId)?.decision;
  const isApprover = quorum_approvers.includes(approverId);
  return {
    approving,
    mayVote: status === "pending" && isApprover && ownDecision === undefined,
    ownDecision,
  };
}
