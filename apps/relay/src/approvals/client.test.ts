import { createRelayClient, redeemApproval, signVote } from "@agent/client";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ARGS_HASH, requestApproval, getRelayDid } from "../../test/agents/approvals.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let agent: TestAgent;
let approver: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  [agent, approver] = [await t.createAgent(), await t.createAgent()];
});
afterEach(() => t.close());

const clientOf = (identity: TestAgent) =>
  createRelayClient({
    baseUrl: "http://relay.test",
    identity,
    now: t.clock.now,
    fetch: async (input, init) => t.relay.fetch(new Request(input, init)),
  });

async function approved(): Promise<void> {
  const { approval_id: approvalId } = await requestApproval(t, agent, [approver]);
  const voter = clientOf(approver);
  const params = { agentId: agent.agentId, approvalId };
  const asked = await voter.getApproval({ params });
  if (!asked.ok) throw new Error(asked.message);
  const { agentId: approverId, secretKey } = approver;
  const body = signVote(asked.body, {
    approverId,
    secretKey,
    decision: "approve",
    relay: await getRelayDid(t),
  });
  expect(await voter.voteOnApproval({ params, body })).toMatchObject({ ok: true });
}

const call = { toolName: "pay", argsHash: ARGS_HASH };
const redeem = (change: Partial<typeof call> = {}) =>
  redeemApproval(clientOf(agent), { agentId: agent.agentId, ...call, ...change });

test("a call is made once for each approval when both sides use only the published clients", async () => {
  const none = { ok: false, code: "approval.not_found" };
  expect(await redeem()).toMatchObject(none);
  await approved();
  await approved();
  expect(await redeem({ argsHash: "cd".repeat(32) })).toMatchObject(none);
  expect(await redeem({ toolName: "delete" })).toMatchObject(none);
  const both = await Promise.all([redeem(), redeem()]);
  expect(both).toMatchObject([
    { ok: true, approval: { status: "used" } },
    { ok: true, approval: { status: "used" } },
  ]);
  expect(await redeem()).toMatchObject(none);
});

test("D3: only votes under the keys of a named quorum count for it, and no other approval is used up", async () => {
  await approved();
  const relay = await getRelayDid(t);
  const quorumOf = ({ agentId: agent_id }: TestAgent, public_key: string) => ({
    votes: { relay, quorum: { required: 1, approvers: [{ agent_id, public_key }] } },
  });
  const client = clientOf(agent);
  const wanted = { agentId: agent.agentId, ...call };
  const strange = { ...wanted, ...quorumOf(approver, agent.publicKey) };
  expect(await redeemApproval(client, strange)).toMatchObject({ code: "approval.not_found" });
  const named = { ...wanted, ...quorumOf(approver, approver.publicKey) };
  expect(await redeemApproval(client, named)).toMatchObject({ ok: true });
});

test("a refusal of the relay reaches the client unchanged", async () => {
  const stranger = clientOf(t.createUnknownAgent());
  expect(await redeemApproval(stranger, { agentId: agent.agentId, ...call })).toMatchObject({
    ok: false,
    code: "auth.device_not_authorized",
  });
});
