import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { getApproval, listAllApprovals, listApprovals } from "./read-approvals.ts";
import { requestApproval } from "./request-approval.ts";
import { useApproval } from "./use-approval.ts";
import { voteOnApproval } from "./vote-on-approval.ts";

type ApprovalHandlers = Pick<
  Handlers,
  | "requestApproval"
  | "listApprovals"
  | "listAllApprovals"
  | "getApproval"
  | "voteOnApproval"
  | "useApproval"
>;

export function approvalHandlers(services: Services): ApprovalHandlers {
  const { read } = services.storage;
  return {
    requestApproval: ({ params, body }, { caller }) =>
      requestApproval(services, { ...params, body, caller }),
    listApprovals: ({ params, query }) => listApprovals(read, params.agentId, query),
    listAllApprovals: ({ query }) => listAllApprovals(read, query),
    getApproval: ({ params }, { caller }) => getApproval(read, { ...params, caller }),
    voteOnApproval: ({ params, body }, { caller }) =>
      voteOnApproval(services, { ...params, body, caller }),
    useApproval: ({ params, body }) => useApproval(services, { ...params, body }),
  };
}
