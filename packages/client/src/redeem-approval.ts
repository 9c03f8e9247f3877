import { type Approval, type Quorum, type Received, verifyQuorum } from "@agent/wire";
import { refusal, type CallRefusal } from "./calls/refusal.ts";
import type { PerCallOptions, RelayClient } from "./relay-client.ts";

/** The call that the approvers of a quorum have approved. */
export interface ApprovedCall {
  /** The agent that makes the call. */
  readonly agentId: string;
  readonly toolName: string;
  /** SHA-256 of the arguments' JCS, 64 lower-case hex digits. */
  readonly argsHash: string;
  /** The quorum whose votes are verified here; by default the relay is trusted to count them. */
  readonly votes?: {
    readonly quorum: Quorum;
    /** The relay's did:key, known to the caller independently of the relay. */
    readonly relay: string;
  };
}

/** The number of newest approvals that are searched: one page. */
const MAX_APPROVALS = 200;

/**
 * Redeems an approval that a quorum gave for exactly this call, which may then be made once. With `votes`,
 * approvals whose votes do not verify are ignored. Refused like `listApprovals` and `useApproval`, and
 * with `approval.not_found` if there is no such approval.
 */
export async function redeemApproval(
  client: Pick<RelayClient, "listApprovals" | "useApproval">,
  { agentId, toolName, argsHash, votes }: ApprovedCall,
  perCall: PerCallOptions = {},
): Promise<{ readonly ok: true; readonly approval: Received<typeof Approval> } | CallRefusal> {
  const params = { agentId };
  const query = { status: "approved", limit: MAX_APPROVALS } as const;
  const listed = await client.listApprovals({ params, query }, perCall);
  if (!listed.ok) return listed;
  const body = { tool_name: toolName, args_hash: argsHash };
  for (const approval of listed.body.approvals) {
    if (approval.tool_name !== toolName || approval.args_hash !== argsHash) continue;
    const approvalId = approval.approval_id;
    const call = { agent_id: agentId, approval_id: approvalId, ...body };
    if (votes !== undefined) {
      const evidence = { votes: approval.votes, relay: votes.relay };
      if (!verifyQuorum(call, votes.quorum, evidence).ok) continue;
    }
    const used = await client.useApproval({ params: { agentId, approvalId }, body }, perCall);
    if (used.ok) return { ok: true, approval: used.body };
    // Another process of the agent has used it; there may be another approval of this call.
    if (used.code !== "approval.not_approved") return used;
  }
  return refusal("approval.not_found", "No approval of this call was found", 404);
}
