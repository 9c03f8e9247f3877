import { signVote } from "@agent/client";
import type { TestAgent } from "@agent/testkit";
import { limits, type Approval, type ApprovalDecision } from "@agent/wire";
import { hexToDidKey } from "@agent/crypto";
import type { Reply, TestRelay } from "../test-relay.ts";

export const ARGS_HASH = "ab".repeat(32);

export const approvalsPath = ({ agentId }: Pick<TestAgent, "agentId">) =>
  `/api/v1/agents/${agentId}/approvals`;

/** Requests an approval for a call of the agent. */
export async function requestApproval(
  t: Pick<TestRelay, "as">,
  agent: TestAgent,
  approvers: readonly TestAgent[],
  quorum_required = approvers.length,
): Promise<Approval> {
  const { status, body } = await t.as(agent, "POST", approvalsPath(agent), {
    tool_name: "pay",
    args_hash: ARGS_HASH,
    quorum_required,
    quorum_approvers: approvers.map(({ agentId }) => agentId),
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body as unknown as Approval;
}

/** Requests as many approvals as may be waiting for one approver, or fewer. */
export async function requestManyApprovals(
  t: Pick<TestRelay, "as">,
  agent: TestAgent,
  approvers: readonly TestAgent[],
  count: number = limits.pendingApprovals,
): Promise<void> {
  for (let index = 0; index < count; index += 1) await requestApproval(t, agent, approvers);
}

/** Returns the relay's did:key from its identity document. */
export async function getRelayDid(t: Pick<TestRelay, "request">): Promise<string> {
  const { body } = await t.request("GET", "/.well-known/agent-relay.json");
  return hexToDidKey(body["public_key"] as string);
}

/** Casts the approver's own vote; `about` replaces members of the approval that the vote signs. */
export async function voteOn(
  t: Pick<TestRelay, "as" | "request">,
  approval: Approval,
  approver: TestAgent,
  decision: ApprovalDecision = "approve",
  about: Approval = approval,
): Promise<Reply> {
  const path = `${approvalsPath({ agentId: approval.agent_id })}/${approval.approval_id}/vote`;
  const { agentId: approverId, secretKey } = approver;
  const relay = await getRelayDid(t);
  return t.as(approver, "POST", path, signVote(about, { approverId, secretKey, decision, relay }));
}

/** Makes the approved call. */
export function useApproval(
  t: Pick<TestRelay, "as">,
  agent: TestAgent,
  { approval_id }: Approval,
  call: { tool_name?: string; args_hash?: string } = {},
): Promise<Reply> {
  const body = { tool_name: "pay", args_hash: ARGS_HASH, ...call };
  return t.as(agent, "POST", `${approvalsPath(agent)}/${approval_id}/use`, body);
}
