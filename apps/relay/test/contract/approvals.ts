import { signJson } from "@agent/crypto";
import { outdatedApprovalVote } from "@agent/wire";
import { approvalsOf, argsHash, askedOf, useOf, voteOn } from "../approvals.ts";
import type { TestRelay } from "../test-relay.ts";
import type { Contract } from "./outcome.ts";

async function scene(t: TestRelay) {
  const [agent, approver] = [await t.agent(), await t.agent()];
  const approval = await askedOf(t, agent, [approver]);
  return { agent, approver, approval, path: `${approvalsOf(agent)}/${approval.approval_id}` };
}

const unknown = (t: TestRelay) => `${approvalsOf(t.stranger())}/${t.stranger().agentId}`;

const bodyOf = (approver: string, approval_id = "a-1") => ({
  approval_id,
  tool_name: "pay",
  args_hash: argsHash,
  quorum_required: 1,
  quorum_approvers: [approver],
});

export const approvalsContract: Contract<
  "requestApproval" | "listApprovals" | "getApproval" | "voteOnApproval" | "useApproval"
> = {
  requestApproval: {
    201: async (t) => {
      const agent = await t.agent();
      return t.as(agent, "POST", approvalsOf(agent), bodyOf(agent.agentId));
    },
    200: async (t) => {
      const agent = await t.agent();
      await t.as(agent, "POST", approvalsOf(agent), bodyOf(agent.agentId));
      return t.as(agent, "POST", approvalsOf(agent), bodyOf(agent.agentId));
    },
    "agent.not_found": (t) => {
      const { agentId } = t.stranger();
      return t.asMaster("POST", approvalsOf({ agentId }), bodyOf(agentId));
    },
    "approval.id_taken": async (t) => {
      const agent = await t.agent();
      await t.as(agent, "POST", approvalsOf(agent), bodyOf(agent.agentId));
      return t.as(agent, "POST", approvalsOf(agent), bodyOf(t.stranger().agentId));
    },
  },

  listApprovals: {
    200: async (t) => {
      const { approver } = await scene(t);
      return t.as(approver, "GET", `${approvalsOf(approver)}?as=approver`);
    },
    "request.invalid": async (t) => {
      const agent = await t.agent();
      return t.as(agent, "GET", `${approvalsOf(agent)}?cursor=%20`);
    },
  },

  getApproval: {
    200: async (t) => {
      const { approver, path } = await scene(t);
      return t.as(approver, "GET", path);
    },
    "approval.not_found": (t) => t.asMaster("GET", unknown(t)),
    "approval.not_approver": async (t) => {
      const { path } = await scene(t);
      return t.as(await t.agent(), "GET", path);
    },
  },

  voteOnApproval: {
    200: async (t) => {
      const { approval, approver } = await scene(t);
      return voteOn(t, approval, approver);
    },
    "approval.not_found": (t) => {
      const body = { approver_id: t.stranger().agentId, decision: "approve", signature: "A" };
      return t.asMaster("POST", `${unknown(t)}/vote`, body);
    },
    "approval.not_approver": async (t) => {
      const { approval } = await scene(t);
      return voteOn(t, approval, await t.agent());
    },
    "approval.vote_outdated": async (t) => {
      const { approval, approver, path } = await scene(t);
      const vote = { approver_id: approver.agentId, decision: "approve" } as const;
      const { signature } = signJson(outdatedApprovalVote(approval, vote), approver.secretKey);
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
      const [agent, approver, other] = [await t.agent(), await t.agent(), await t.agent()];
      const approval = await askedOf(t, agent, [approver, other]);
      await voteOn(t, approval, approver);
      return voteOn(t, approval, approver);
    },
  },

  useApproval: {
    200: async (t) => {
      const { agent, approval, approver } = await scene(t);
      await voteOn(t, approval, approver);
      return useOf(t, agent, approval);
    },
    "approval.not_found": async (t) => {
      const agent = await t.agent();
      const body = { tool_name: "pay", args_hash: argsHash };
      return t.as(agent, "POST", `${approvalsOf(agent)}/none/use`, body);
    },
    "approval.other_call": async (t) => {
      const { agent, approval } = await scene(t);
      return useOf(t, agent, approval, { tool_name: "another" });
    },
    "approval.not_approved": async (t) => {
      const { agent, approval } = await scene(t);
      return useOf(t, agent, approval);
    },
  },
};
