import { hashQuorum, type Approval } from "@agent/wire";
import type { Reader } from "../storage/storage.ts";
import type { ApprovalRow, ApprovalVoteRow } from "../storage/tables/approvals.ts";
import { listVotes } from "./store.ts";

/** Builds the view that an approval's agent and its approvers get. */
function toApproval(row: ApprovalRow, votes: readonly ApprovalVoteRow[]): Approval {
  const quorum_approvers = votes.map(({ approver_id }) => approver_id);
  const { quorum_required } = row;
  return {
    approval_id: row.approval_id,
    agent_id: row.agent_id,
    tool_name: row.tool_name,
    args_hash: row.args_hash,
    ...(row.arguments !== null && {
      arguments: JSON.parse(row.arguments) as Record<string, unknown>,
    }),
    quorum_required,
    quorum_approvers,
    quorum_hash: hashQuorum({ quorum_required, quorum_approvers }),
    status: row.status,
    votes: votes.flatMap(({ approver_id, decision, signature, voted_at }) =>
      decision === null || signature === null || voted_at === null
        ? []
        : [{ approver_id, decision, signature, voted_at }],
    ),
    created_at: row.created_at,
    resolved_at: row.resolved_at,
  };
}

export async function loadApproval(read: Reader, row: ApprovalRow): Promise<Approval> {
  return toApproval(row, await listVotes(read, row));
}
