import type { ApprovalSubject } from "./operations/tasks/approvals.ts";
import { verifyVote } from "./verify-vote.ts";

/** The agents whose votes count, each under the one key that was named for it, and how many must approve. */
export interface Quorum {
  readonly required: number;
  readonly approvers: readonly QuorumApprover[];
}

export interface QuorumApprover {
  readonly agent_id: string;
  /** 64 lower-case hex digits. */
  readonly public_key: string;
}

/** A vote as a relay shows it; its words may be those of a later version. */
interface VoteEvidence {
  readonly approver_id: string;
  readonly decision: string;
  readonly signature: string;
}

/**
 * Whether enough named approvers approved exactly this call by their own signatures, so that nobody has to
 * take a relay's word for it. Refused with `approval.votes_missing`.
 *
 * @param call what is about to be done; nothing of it may come from the relay
 * @param relay the did:key of the relay that the votes were cast at
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
    // The first one only: a relay must not make its agents check a thousand signatures of one approver.
    const vote = votes.find((each) => each.approver_id === approver_id);
    if (vote?.decision !== "approve") return false;
    const { signature } = vote;
    const signed = { approver_id, decision: "approve", relay, signature } as const;
    return verifyVote(subject, signed, public_key).ok;
  });
  // One holder of a key is one approver, under however many ids.
  const distinct = new Set(approving.map(({ public_key }) => public_key)).size;
  // A quorum of none would be no quorum.
  return distinct >= Math.max(1, quorum.required)
    ? { ok: true }
    : { ok: false, code: "approval.votes_missing" };
}
