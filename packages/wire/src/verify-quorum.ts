import type { ApprovalSubject } from "./operations/tasks/approvals.ts";
import { verifyVote } from "./verify-vote.ts";

/** The approvers, each with its only known key, and the number of them that must approve. */
export interface Quorum {
  readonly required: number;
  readonly approvers: readonly QuorumApprover[];
}

export interface QuorumApprover {
  readonly agent_id: string;
  /** 64 lower-case hex digits. */
  readonly public_key: string;
}

/** A vote as a relay returns it; its values may be those of a later version. */
interface VoteEvidence {
  readonly approver_id: string;
  readonly decision: string;
  readonly signature: string;
}

/**
 * Verifies that enough named approvers signed an approval of exactly this call, without trust in the
 * relay that returned the votes. Refused with `approval.votes_missing`.
 *
 * @param call the call to be made; no part of it may come from the relay
 * @param relay the did:key of the relay at which the votes were cast
 */
export function verifyQuorum(
  call: Pick<ApprovalSubject, "approval_id" | "agent_id" | "tool_name" | "args_hash">,
  quorum: Quorum,
  { votes, relay }: { readonly votes: readonly VoteEvidence[]; readonly relay: string },
): { readonly ok: true } | { readonly ok: false; readonly code: "approval.votes_missing" } {
  const { required: quorum_required, approvers } = quorum;
  const quorum_approvers = approvers.map(({ agent_id }) => agent_id);
  const subject = { ...call, quorum_required, quorum_approvers };
  const approving = approvers.filter(({ agent_id: approver_id, public_key }) => {
    // Only the first vote of an approver counts, so that a relay cannot make an agent check many signatures
    // of one approver.
    const vote = votes.find((each) => each.approver_id === approver_id);
    if (vote?.decision !== "approve") return false;
    const { signature } = vote;
    const signed = { approver_id, decision: "approve", relay, signature } as const;
    return verifyVote(subject, signed, public_key).ok;
  });
  // A key counts as one approver, no matter how many ids it has.
  const distinct = new Set(approving.map(({ public_key }) => public_key)).size;
  // A quorum of zero approvers is refused.
  return distinct >= Math.max(1, quorum.required)
    ? { ok: true }
    : { ok: false, code: "approval.votes_missing" };
}
