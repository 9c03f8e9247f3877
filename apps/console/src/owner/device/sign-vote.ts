import { canonicalize, toBase64Url, utf8ToBytes } from "@agent/crypto";
import { buildApprovalVote, type ApprovalBallot, type ApprovalSubject } from "@agent/wire";

/** Signs a vote with the browser's key, as the client's `signVote` does with a seed. */
export async function signVoteByKey(
  approval: ApprovalSubject,
  ballot: ApprovalBallot,
  privateKey: CryptoKey,
): Promise<{ approver_id: string; decision: ApprovalBallot["decision"]; signature: string }> {
  const { approver_id, decision } = ballot;
  const text = utf8ToBytes(canonicalize(buildApprovalVote(approval, ballot)));
  const signature = await crypto.subtle.sign("Ed25519", privateKey, new Uint8Array(text));
  return { approver_id, decision, signature: toBase64Url(new Uint8Array(signature)) };
}
