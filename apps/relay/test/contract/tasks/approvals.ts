import { signJson } from "@agent/crypto";
import { buildLegacyApprovalVote } from "@agent/wire";
import {
  approvalsPath,
  ARGS_HASH,
  requestApproval,
  requestManyApprovals,
  useApproval,
  voteOn,
} from "../../agents/approvals.ts";
import type { TestRelay } from "../../test-relay.ts";
import type { Contract } from "../outcome.ts";

async function scene(t: TestRelay) {
  const [agent, approver] = [await t.createAgent(), await t.createAgent()];
  const approval = await requestApproval(t, agent, [approver]);
  return { agent, approver, approval, path: `${approvalsPath(agent)}/${approval.approval_id}` };
}

const unknown = (t: TestRelay) =>
  `${approvalsPath(t.createUnknownAgent())}/${t.createUnknownAgent().agentId}`;

const bodyOf = (approver: string, approval_id = "a-1") => ({
  approval_id,
  tool_name: "pay",
  args_hash: ARGS_HASH,
  quorum_required: 1,
  quorum_approvers: [approver],
});

export const approvalsContract: Contract<
  "requestApproval" | "listApprovals" | "getApproval" | "voteOnApproval" | "useApproval"
> = {
  requestApproval: {
    201: async (t) => {
      const agent = await t.createAgent();
      return t.as(agent, "POST", approvalsPath(agent), bodyOf(agent.agentId));
    },
    200: async (t) => {
      const agent = await t.createAgent();
      await t.as(agent, "POST", approvalsPath(agent), bodyOf(agent.agentId));
      return t.as(agent, "POST", approvalsPath(agent), bodyOf(agent.agentId));
    },
    "agent.not_found": (t) => {
      const { agentId } = t.createUnknownAgent();
      return t.asOperator("POST", approvalsPath({ agentId }), bodyOf(agentId));
    },
    "approval.id_taken": async (t) => {
      const agent = await t.createAgent();
      await t.as(agent, "POST", approvalsPath(agent), bodyOf(agent.agentId));
      return t.as(agent, "POST", approvalsPath(agent), bodyOf(t.createUnknownAgent().agentId));
    },
    "approval.too_many": async (t) => {
      const [agent, approver] = [await t.createAgent(), await t.createAgent()];
      await requestManyApprovals(t, agent, [approver]);
      return t.as(agent, "POST", approvalsPath(agent), bodyOf(approver.agentId));
    },
  },

  listApprovals: {
    200: async (t) => {
      const { approver } = await scene(t);
      return t.as(approver, "GET", `${approvalsPath(approver)}?as=approver`);
    },
    "request.invalid": async (t) => {
      const agent = await t.createAgent();
      return t.as(agent, "GET", `${approvalsPath(agent)}?cursor=%20`);
    },
  },

  getApproval: {
    200: async (t) => {
      const { approver, path } = await scene(t);
      return t.as(approver, "GET", path);
    },
    "approval.not_found": (t) => t.asOperator("GET", unknown(t)),
    "approval.not_approver": async (t) => {
      const { path } = await scene(t);
      return t.as(await t.createAgent(), "GET", path);
    },
  },

  voteOnApproval: {
    200: async (t) => {
      const { approval, approver } = await scene(t);
      return voteOn(t, approval, approver);
    },
    "approval.not_found": (t) => {
      const body = {
        approver_id: t.createUnknownAgent().agentId,
        decision: "approve",
        signature: "A",
      };
      return t.asOperator("POST", `${unknown(t)}/vote`, body);
    },
    "approval.not_approver": async (t) => {
      const { approval } = await scene(t);
      return voteOn(t, approval, await t.createAgent());
    },
    "approval.vote_outdated": async (t) => {
      const { approval, approver, path } = await scene(t);
      const vote = { approver_id: approver.agentId, decision: "approve" } as const;
      const { signature } = signJson(buildLegacyApprovalVote(approval, vote), approver.secretKey);
      return t.as(approver, "POST", `${path}/vote`, { ...vote, signature });
    },
    "approval.signature_invalid": async (t) => {
      const { approval, approver } = await scene(t);
      const another = { ...approval, args_hash: "00".repeat(32) };
      return voteOn(t, approval, approver, "approve", another);
    },
    "approval.resolved": async (t) => {
      const { approval, approver } = await scene(t);
      await voteOn(t, approval, approver);
      return voteOn(t, approval, approver);
    },
    "approval.already_voted": async (t) => {
      const [agent, approver, other] = [
        await t.createAgent(),
        await t.createAgent(),
        await t.createAgent(),
      ];
      const approval = await requestApproval(t, agent, [approver, other]);
      await voteOn(t, approval, approver);
      return voteOn(t, approval, approver);
    },
  },

  useApproval: {
    200: async (t) => {
      const { agent, approval, approver } = await scene(t);
      await voteOn(t, approval, approver);
      return useApproval(t, agent, approval);
    },
    "approval.not_found": async (t) => {
      const agent = await t.createAgent();
      const body = { tool_name: "pay", args_hash: ARGS_HASH };
      return t.as(agent, "POST", `${approvalsPath(agent)}/none/use`, body);
    },
    "approval.other_call": async (t) => {
      const { agent, approval } = await scene(t);
      return useApproval(t, agent, approval, { tool_name: "another" });
    },
    "approval.not_approved": async (t) => {
      const { agent, approval } = await scene(t);
      return useApproval(t, agent, approval);
    },
  },
};
