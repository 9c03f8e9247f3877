import { refuse, type Answer, type Operations, type QueryOf } from "@agent/wire";
import { createPageAnswer, textDescending } from "../http/paging/page.ts";
import { mayActFor, type Caller } from "../identity/caller.ts";
import type { Reader } from "../storage/storage.ts";
import type { ApprovalRow } from "../storage/tables/approvals.ts";
import {
  findApproval,
  listApprovalsByAgent,
  listApprovalsByApprover,
  listApprovalsOfAll,
} from "./store.ts";
import { loadApproval } from "./load-approval.ts";
import { listWaitingApprovals } from "./waiting-store.ts";

export async function getApproval(
  read: Reader,
  { agentId, approvalId, caller }: { agentId: string; approvalId: string; caller: Caller },
): Promise<Answer<Operations["getApproval"]>> {
  const row = await findApproval(read, { agent_id: agentId, approval_id: approvalId });
  if (row === undefined) return refuse("approval.not_found");
  const approval = await loadApproval(read, row);
  return mayActFor(caller, [agentId, ...approval.quorum_approvers])
    ? { status: 200, body: approval }
    : refuse("approval.not_approver");
}

/** Lists approvals, newest first, but those of strangers by the fees that their tasks paid to the relay. */
export async function listApprovals(
  read: Reader,
  agent_id: string,
  query: QueryOf<Operations["listApprovals"]>,
): Promise<Answer<Operations["listApprovals"]>> {
  const { as, status = "", requester } = query;
  const show = async (rows: ApprovalRow[]) => ({
    approvals: await Promise.all(rows.map((row) => loadApproval(read, row))),
  });
  if (as === "approver" && requester !== undefined) {
    return createPageAnswer(query, {
      order: textDescending,
      find: (before, limit) =>
        listWaitingApprovals(read, { agent_id, status, before, limit, requester }),
      keyOf: ({ place }) => place,
      show,
    });
  }
  const list = as === "approver" ? listApprovalsByApprover : listApprovalsByAgent;
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) => list(read, { agent_id, status, before, limit }),
    keyOf: ({ sequence }) => sequence,
    show,
  });
}

/** Lists the approvals of all agents for the operator, newest first. */
export async function listAllApprovals(
  read: Reader,
  { status: wanted, ...query }: QueryOf<Operations["listAllApprovals"]>,
): Promise<Answer<Operations["listAllApprovals"]>> {
  const status = wanted ?? "";
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) => listApprovalsOfAll(read, { status, before, limit }),
    keyOf: ({ sequence }) => sequence,
    // The operator's lists show no texts of agents.
    show: async (rows) => ({
      approvals: await Promise.all(
        rows.map((row) => loadApproval(read, { ...row, arguments: null })),
      ),
    }),
  });
}
