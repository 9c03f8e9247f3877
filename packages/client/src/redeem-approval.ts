import { type Approval, type Quorum, type Received, verifyQuorum } from "@agent/wire";
import { refusal, type CallRefusal } from "./calls/refusal.ts";
import type { PerCallOptions, RelayClient } from "./relay-client.ts";

export interface ApprovedCall {
  /** The agent that wants to make the call. */
  readonly agentId: string;
  readonly toolName: string;
  /** SHA-256 of the arguments' JCS, 64 lower-case hex digits. */
  readonly argsHash: string;
  /** The votes that it takes, verified here; without it the relay's word that there are enough is taken. */
  readonly votes?: {
    readonly quorum: Quorum;
    /** The relay's did:key, as the caller itself knows it. */
    readonly relay: string;
  };
}

/** As many of the newest approvals are looked through as a page holds. */
const MAX_APPROVALS = 200;

/**
 * Uses up an approval that a quorum gave for exactly this call, so that it may be made once; with `votes` one
 * whose votes do not verify counts as none. Refused as
 * `listApprovals` and `useApproval` are, and with `approval.not_found` while there is none.
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
    // Another process of the agent was faster; there may be another approval of this call.
    if (used.code !== "approval.not_approved") return used;
  }
  return refusal("approval.not_found", "Nobody has approved this call", 404);
}
