import { signJson } from "@agent/crypto";
import { buildApprovalVote, type ApprovalDecision, type ApprovalSubject } from "@agent/wire";

/** The vote of an approver, and the key that signs it. */
export interface SignVoteOptions {
  readonly approverId: string;
  /** The seed of the key that the quorum names for the approver, 32 bytes; usually its own key. */
  readonly secretKey: Uint8Array;
  readonly decision: ApprovalDecision;
  /** The did:key of the relay that counts the vote, which the approver must know from another source. */
  readonly relay: string;
}

/**
 * Builds the body of `voteOnApproval`: a vote bound to this call of this agent, to the quorum and to the
 * relay. `signature` is base64url over the JCS of all of these.
 */
export function signVote(
  approval: ApprovalSubject,
  { approverId: approver_id, secretKey, decision, relay }: SignVoteOptions,
): { approver_id: string; decision: ApprovalDecision; signature: string } {
  const vote = buildApprovalVote(approval, { approver_id, decision, relay });
  return { approver_id, decision, signature: signJson(vote, secretKey).signature };
}
