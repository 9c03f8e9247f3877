import { canonicalize, sha256Hex, signJson } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import {
  buildApprovalVote,
  buildLegacyApprovalVote,
  limits,
  verifyQuorum,
  type Approval,
} from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  approvalsPath,
  ARGS_HASH,
  requestApproval,
  getRelayDid,
  useApproval,
  voteOn,
} from "../../test/agents/approvals.ts";
import { createPairedDevice } from "../../test/agents/pairing.ts";
import { createRotation } from "../../test/agents/rotation.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let agent: TestAgent;
let ann: TestAgent;
let bob: TestAgent;
let cid: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  [agent, ann, bob, cid] = [
    await t.createAgent(),
    await t.createAgent(),
    await t.createAgent(),
    await t.createAgent(),
  ];
});
afterEach(() => t.close());

const refusal = (status: number, code: string) => ({ status, body: { code } });
const read = async ({ approval_id }: Approval) =>
  (await t.as(agent, "GET", `${approvalsPath(agent)}/${approval_id}`)).body;

describe("approvals", () => {
  test("an approval is granted when the required number of approvers approve", async () => {
    const approval = await requestApproval(t, agent, [ann, bob, cid], 2);
    expect(approval).toMatchObject({ status: "pending", votes: [], resolved_at: null });
    const first = await voteOn(t, approval, ann);
    expect(first.body).toMatchObject({ status: "pending", votes: [{ approver_id: ann.agentId }] });
    await t.clock.advance(5);
    const second = await voteOn(t, approval, cid);
    expect(second).toMatchObject({ status: 200, body: { status: "approved" } });
    expect(await read(approval)).toMatchObject({
      status: "approved",
      resolved_at: t.clock.now(),
    });
    expect(await voteOn(t, approval, bob)).toMatchObject(refusal(409, "approval.resolved"));
  });

  test("one denial ends an approval, even after other approvers have approved", async () => {
    const approval = await requestApproval(t, agent, [ann, bob, cid], 2);
    await voteOn(t, approval, ann);
    expect((await voteOn(t, approval, bob, "deny")).body).toMatchObject({ status: "denied" });
    expect(await voteOn(t, approval, cid)).toMatchObject(refusal(409, "approval.resolved"));
    expect(await useApproval(t, agent, approval)).toMatchObject(
      refusal(409, "approval.not_approved"),
    );
  });

  test("an approval counts no vote twice, not even when it is sent twice at once", async () => {
    const approval = await requestApproval(t, agent, [ann, bob], 2);
    const both = await Promise.all([voteOn(t, approval, ann), voteOn(t, approval, ann)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect(await voteOn(t, approval, ann)).toMatchObject(refusal(409, "approval.already_voted"));
    expect(await read(approval)).toMatchObject({ status: "pending" });
  });

  test("an approval is used once, for the call that it was given for", async () => {
    const approval = await requestApproval(t, agent, [ann]);
    await voteOn(t, approval, ann);
    const other = refusal(409, "approval.other_call");
    expect(await useApproval(t, agent, approval, { tool_name: "delete" })).toMatchObject(other);
    expect(await useApproval(t, agent, approval, { args_hash: "cd".repeat(32) })).toMatchObject(
      other,
    );
    const uses = await Promise.all([
      useApproval(t, agent, approval),
      useApproval(t, agent, approval),
    ]);
    expect(uses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect(await read(approval)).toMatchObject({ status: "used" });
  });

  test("an approval can be neither used nor read by other agents", async () => {
    const approval = await requestApproval(t, agent, [ann]);
    await voteOn(t, approval, ann);
    const path = `${approvalsPath(agent)}/${approval.approval_id}`;
    const call = { tool_name: "pay", args_hash: ARGS_HASH };
    const used = await t.as(ann, "POST", `${path}/use`, call);
    expect(used).toMatchObject(refusal(403, "auth.not_owner"));
    expect(await t.as(bob, "GET", path)).toMatchObject(refusal(403, "approval.not_approver"));
    expect(await t.as(ann, "GET", path)).toMatchObject({ status: 200 });
  });
});

describe("requests for approvals", () => {
  const request = (body: Record<string, unknown>) =>
    t.as(agent, "POST", approvalsPath(agent), {
      tool_name: "pay",
      args_hash: ARGS_HASH,
      quorum_required: 1,
      quorum_approvers: [ann.agentId],
      ...body,
    });

  test("a request under a used id returns the existing approval, whatever the order of its approvers", async () => {
    const wanted = { approval_id: "a-1", quorum_approvers: [ann.agentId, bob.agentId] };
    const first = await request(wanted);
    expect(first.status).toBe(201);
    await voteOn(t, first.body as unknown as Approval, ann);
    const quorum_approvers = [bob.agentId, ann.agentId, bob.agentId];
    const again = await request({ ...wanted, quorum_approvers });
    expect(again).toMatchObject({ status: 200, body: { status: "approved" } });
  });

  test("a request for an approval cannot be changed under its id, and each agent has ids of its own", async () => {
    await request({ approval_id: "a-1" });
    const changed = await request({ approval_id: "a-1", args_hash: "cd".repeat(32) });
    expect(changed).toMatchObject(refusal(409, "approval.id_taken"));
    const body = { approval_id: "a-1", quorum_required: 1, quorum_approvers: [bob.agentId] };
    const theirs = { ...body, tool_name: "other", args_hash: "cd".repeat(32) };
    expect(await t.as(ann, "POST", approvalsPath(ann), theirs)).toMatchObject({ status: 201 });
  });

  test.each<[string, string, (of: { ann: string; bob: string }) => Record<string, unknown>]>([
    ["requires no vote", "quorum_required", () => ({ quorum_required: 0 })],
    ["requires half a vote", "quorum_required", () => ({ quorum_required: 1.5 })],
    ["requires more votes than approvers", "quorum_required", () => ({ quorum_required: 2 })],
    [
      "counts one approver twice",
      "quorum_required",
      (of) => ({ quorum_required: 2, quorum_approvers: [of.ann, of.ann] }),
    ],
    ["names no approvers", "quorum_required", () => ({ quorum_approvers: [] })],
    [
      "names an approver that is no agent id",
      "quorum_approvers.0",
      () => ({ quorum_approvers: ["ann"] }),
    ],
    ["has an empty hash", "args_hash", () => ({ args_hash: "" })],
  ])("a request for an approval is refused when it %s", async (_, path, change) => {
    const reply = await request(change({ ann: ann.agentId, bob: bob.agentId }));
    expect(reply).toMatchObject(refusal(400, "request.invalid"));
    expect(reply.body["issues"]).toContainEqual(expect.objectContaining({ path }));
  });
});

describe("the arguments of a call", () => {
  const args = { to: "ann", amount: 5 };
  const asked = (given: unknown, of = args) =>
    t.as(agent, "POST", approvalsPath(agent), {
      tool_name: "pay",
      args_hash: sha256Hex(canonicalize(of)),
      arguments: given,
      quorum_required: 1,
      quorum_approvers: [ann.agentId],
    });
  const listed = async () => {
    const { body } = await t.as(ann, "GET", `${approvalsPath(ann)}?as=approver`);
    return (body["approvals"] as Approval[]).map((approval) => approval.arguments);
  };

  test("the arguments of a call are shown to the approvers until they have decided, and never in the operator's list", async () => {
    const approval = (await asked(args)).body as unknown as Approval;
    expect(approval.arguments).toEqual(args);
    expect(await listed()).toEqual([args]);
    const { body } = await t.asOperator("GET", "/api/v1/admin/approvals");
    expect((body["approvals"] as Approval[])[0]).not.toHaveProperty("arguments");
    expect((await voteOn(t, approval, ann)).body).not.toHaveProperty("arguments");
    expect(await listed()).toEqual([undefined]);
  });

  test("the arguments of a call are deleted after a day without a decision", async () => {
    await asked(args);
    await t.clock.advance(limits.approvalArgumentsMs);
    await t.relay.tick();
    expect(await listed()).toEqual([undefined]);
  });

  test.each([
    ["have another hash", { to: "eve", amount: 5 }, undefined],
    ["are a list", ["ann"], undefined],
    ["are too long", { text: "x".repeat(16_384) }, { text: "x".repeat(16_384) }],
    ["have no canonical form", { text: "\ud800" }, undefined],
  ])("the arguments of a call are refused if they %s", async (_, given, of) => {
    const reply = await asked(given, (of ?? args) as typeof args);
    expect(reply).toMatchObject(refusal(400, "request.invalid"));
    expect(reply.body["issues"]).toContainEqual(expect.objectContaining({ path: "arguments" }));
  });
});

describe("votes", () => {
  const invalid = refusal(403, "approval.signature_invalid");
  /** Builds a vote whose signature covers other members than it shows. */
  async function forged(change: (honest: ReturnType<typeof buildApprovalVote>) => object) {
    const approval = await requestApproval(t, agent, [ann, bob]);
    const vote = { approver_id: ann.agentId, decision: "approve" as const };
    const honest = buildApprovalVote(approval, { ...vote, relay: await getRelayDid(t) });
    const { signature } = signJson(change(honest), ann.secretKey);
    const path = `${approvalsPath(agent)}/${approval.approval_id}/vote`;
    return t.as(ann, "POST", path, { ...vote, signature });
  }

  test.each<[string, (honest: ReturnType<typeof buildApprovalVote>) => object]>([
    ["the other decision", (vote) => ({ ...vote, decision: "deny" })],
    ["another call", (vote) => ({ ...vote, args_hash: "cd".repeat(32) })],
    ["D3: another tool", (vote) => ({ ...vote, tool_name: "read" })],
    ["D3: another relay", (vote) => ({ ...vote, relay: ann.did })],
    ["another agent", (vote) => ({ ...vote, agent_id: vote.approver_id })],
    ["another approval", (vote) => ({ ...vote, approval_id: "another" })],
    ["a smaller quorum", (vote) => ({ ...vote, quorum_hash: "00".repeat(32) })],
    ["another approver", (vote) => ({ ...vote, approver_id: vote.agent_id })],
    ["another kind of thing", (vote) => ({ ...vote, type: "receipt" })],
    ["more than the vote", (vote) => ({ ...vote, more: 1 })],
  ])("a vote that signs %s does not count", async (_, change) => {
    expect(await forged((vote) => vote)).toMatchObject({ status: 200 });
    expect(await forged(change)).toMatchObject(invalid);
  });

  test("D3: a vote of the first form is refused as outdated, and its approver can vote again", async () => {
    const approval = await requestApproval(t, agent, [ann]);
    const vote = { approver_id: ann.agentId, decision: "approve" as const };
    const { signature } = signJson(buildLegacyApprovalVote(approval, vote), ann.secretKey);
    const path = `${approvalsPath(agent)}/${approval.approval_id}/vote`;
    expect(await t.as(ann, "POST", path, { ...vote, signature })).toMatchObject(
      refusal(403, "approval.vote_outdated"),
    );
    expect(await read(approval)).toMatchObject({ status: "pending", votes: [] });
    expect(await voteOn(t, approval, ann)).toMatchObject({ body: { status: "approved" } });
  });

  test("D3: a vote of the first form that a stranger's key signed is refused as invalid", async () => {
    const approval = await requestApproval(t, agent, [ann]);
    const vote = { approver_id: ann.agentId, decision: "approve" as const };
    const { signature } = signJson(buildLegacyApprovalVote(approval, vote), bob.secretKey);
    const path = `${approvalsPath(agent)}/${approval.approval_id}/vote`;
    expect(await t.as(ann, "POST", path, { ...vote, signature })).toMatchObject(invalid);
  });

  test("a vote counts only if one of the approvers casts it in its own name", async () => {
    const approval = await requestApproval(t, agent, [ann]);
    const notOne = refusal(403, "approval.not_approver");
    expect(await voteOn(t, approval, bob)).toMatchObject(notOne);
    expect(await voteOn(t, approval, agent)).toMatchObject(notOne);
    const { body } = await t.as(ann, "GET", `${approvalsPath(ann)}?as=approver`);
    expect(body["approvals"]).toMatchObject([{ votes: [] }]);
  });

  test("D3: a vote that an approver's device signed does not count, and the approver can vote itself", async () => {
    const phone = await createPairedDevice(t, ann, ["agent:write"]);
    const approval = await requestApproval(t, agent, [ann]);
    for (const decision of ["approve", "deny"] as const) {
      expect(await voteOn(t, approval, phone, decision)).toMatchObject(invalid);
    }
    expect(await read(approval)).toMatchObject({ status: "pending", votes: [] });

    // A device may submit a vote that the approver's own key signed.
    const { approval_id } = approval;
    const relay = await getRelayDid(t);
    const vote = { approver_id: ann.agentId, decision: "approve" as const };
    const { signature } = signJson(buildApprovalVote(approval, { ...vote, relay }), ann.secretKey);
    const path = `${approvalsPath(agent)}/${approval_id}/vote`;
    expect(await t.as(phone, "POST", path, { ...vote, signature })).toMatchObject({
      status: 200,
      body: { status: "approved" },
    });
  });

  test("OB4: a device's vote counts if its owner granted that scope by name, until the device is revoked", async () => {
    const browser = await createPairedDevice(t, ann, ["task:read", "approvals:vote"]);
    const first = await requestApproval(t, agent, [ann]);
    expect(await voteOn(t, first, browser)).toMatchObject({ body: { status: "approved" } });
    const second = await requestApproval(t, agent, [ann]);
    expect(await voteOn(t, second, browser, "deny")).toMatchObject({ body: { status: "denied" } });

    const third = await requestApproval(t, agent, [ann]);
    const other = await createPairedDevice(t, ann, ["approvals:vote"]);
    const vote = { approver_id: ann.agentId, decision: "approve" as const };
    const body = buildApprovalVote(third, { ...vote, relay: await getRelayDid(t) });
    const { signature } = signJson(body, browser.secretKey);
    const path = `${approvalsPath(agent)}/${third.approval_id}/vote`;
    // The device that sends the vote must be the one that signed it.
    expect(await t.as(other, "POST", path, { ...vote, signature })).toMatchObject(invalid);
    await t.as(ann, "DELETE", `/api/v1/agents/${ann.agentId}/devices/${browser.deviceId}`);
    expect(await voteOn(t, third, browser)).toMatchObject({ status: 403 });
    expect(await t.as(ann, "POST", path, { ...vote, signature })).toMatchObject(invalid);
  });

  test("OB4: an agent counts a device's vote only if it names the key of that device", async () => {
    const browser = await createPairedDevice(t, ann, ["approvals:vote"]);
    const approval = await requestApproval(t, agent, [ann]);
    const { body } = await voteOn(t, approval, browser);
    const { votes } = body as unknown as Approval;
    const relay = await getRelayDid(t);
    const verifyNaming = ({ publicKey: public_key }: TestAgent) => {
      const approvers = [{ agent_id: ann.agentId, public_key }];
      return verifyQuorum(approval, { required: 1, approvers }, { votes, relay }).ok;
    };
    expect([verifyNaming(browser), verifyNaming(ann)]).toEqual([true, false]);
  });

  test("D3: the relay and an agent server count the same votes and refuse the same votes", async () => {
    const phone = await createPairedDevice(t, ann, ["agent:write"]);
    const relay = await getRelayDid(t);
    const { next, succession } = createRotation(t, bob);
    const quorum = {
      required: 1,
      approvers: [
        { agent_id: ann.agentId, public_key: ann.publicKey },
        { agent_id: bob.agentId, public_key: next.publicKey },
      ],
    };
    await t.as(bob, "POST", `/api/v1/agents/${bob.agentId}/rotate-key`, { succession });
    const signers: [TestAgent, TestAgent, boolean][] = [
      [ann, ann, true],
      [ann, phone, false],
      [next, next, true],
      [next, bob, false],
    ];
    for (const [approver, { secretKey }, counts] of signers) {
      const approval = await requestApproval(t, agent, [ann, bob], 1);
      const vote = { approver_id: approver.agentId, decision: "approve" as const };
      const { signature } = signJson(buildApprovalVote(approval, { ...vote, relay }), secretKey);
      const path = `${approvalsPath(agent)}/${approval.approval_id}/vote`;
      const { status } = await t.as(approver, "POST", path, { ...vote, signature });
      expect(status === 200).toBe(counts);
      const verified = verifyQuorum(approval, quorum, { votes: [{ ...vote, signature }], relay });
      expect(verified.ok).toBe(counts);
    }
  });

  test("a vote that a former key signed does not count", async () => {
    const approval = await requestApproval(t, agent, [ann]);
    const { next, succession } = createRotation(t, ann);
    const path = `/api/v1/agents/${ann.agentId}/rotate-key`;
    await t.as(ann, "POST", path, { succession });
    const vote = buildApprovalVote(approval, {
      approver_id: ann.agentId,
      decision: "approve",
      relay: await getRelayDid(t),
    });
    const { signature } = signJson(vote, ann.secretKey);
    const body = { approver_id: ann.agentId, decision: "approve", signature };
    const ballots = `${approvalsPath(agent)}/${approval.approval_id}/vote`;
    expect(await t.as(next, "POST", ballots, body)).toMatchObject(invalid);
    expect(await voteOn(t, approval, next)).toMatchObject({ status: 200 });
  });
});

test("approvals are listed newest first, by state and page by page, for their agent and their approvers", async () => {
  const first = await requestApproval(t, agent, [ann]);
  await t.clock.advance(1);
  const second = await requestApproval(t, agent, [ann, bob]);
  await voteOn(t, first, ann);
  const list = async (by: TestAgent, query: string) => {
    const { body } = await t.as(by, "GET", `${approvalsPath(by)}?${query}`);
    const rows = body["approvals"] as Approval[];
    return { ids: rows.map(({ approval_id }) => approval_id), next: body["next_cursor"] };
  };
  const [one, two] = [first.approval_id, second.approval_id];
  expect((await list(agent, "")).ids).toEqual([two, one]);
  expect((await list(ann, "")).ids).toEqual([]);
  expect((await list(ann, "as=approver")).ids).toEqual([two, one]);
  expect((await list(bob, "as=approver")).ids).toEqual([two]);
  expect((await list(ann, "as=approver&status=approved")).ids).toEqual([one]);
  const page = await list(agent, "limit=1");
  expect(page.ids).toEqual([two]);
  expect((await list(agent, `limit=1&cursor=${String(page.next)}`)).ids).toEqual([one]);
});
