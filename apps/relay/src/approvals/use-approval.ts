import { refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import type { Services } from "../services.ts";
import { countVotesInFavour, findApproval, updateApprovalStatus } from "./store.ts";
import { loadApproval } from "./load-approval.ts";

type Use = Operations["useApproval"];

interface ApprovalUse {
  readonly agentId: string;
  readonly approvalId: string;
  readonly body: BodyOf<Use>;
}

/** Uses an approval once, for the call that it was given for, while the keys of its votes are in force. */
export async function useApproval(
  { storage }: Pick<Services, "storage">,
  { agentId, approvalId, body }: ApprovalUse,
): Promise<Answer<Use>> {
  const key = { agent_id: agentId, approval_id: approvalId };
  return storage.transaction(async (tx) => {
    const row = await findApproval(tx, key);
    if (row === undefined) return refuse("approval.not_found");
    if (row.tool_name !== body.tool_name || row.args_hash !== body.args_hash) {
      return refuse("approval.other_call");
    }
    if (row.status === "approved" && (await countVotesInFavour(tx, key)) < row.quorum_required) {
      return refuse("approval.not_approved", "the key of a vote has ended since");
    }
    const { resolved_at } = row;
    const used = { ...key, status: "used" as const, resolved_at, from: "approved" };
    if (!(await updateApprovalStatus(tx, used))) return refuse("approval.not_approved", row.status);
    return { status: 200 as const, body: await loadApproval(tx, { ...row, status: "used" }) };
  });
}
