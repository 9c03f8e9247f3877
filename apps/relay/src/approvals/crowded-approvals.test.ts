import type { TestAgent } from "@agent/testkit";
import { limits, type Approval } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  approvalsPath,
  ARGS_HASH,
  requestApproval,
  requestManyApprovals,
  voteOn,
} from "../../test/agents/approvals.ts";
import { createBuyer, createSeller, submitAcceptedTask } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let stranger: TestAgent;
let ann: TestAgent;
let bob: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  [stranger, ann, bob] = [await t.createAgent(), await createBuyer(t, 100), await t.createAgent()];
});
afterEach(() => t.close());

const ask = (agent: TestAgent, approvers: readonly TestAgent[], extra: object = {}) =>
  t.as(agent, "POST", approvalsPath(agent), {
    tool_name: "pay",
    args_hash: ARGS_HASH,
    quorum_required: 1,
    quorum_approvers: approvers.map(({ agentId }) => agentId),
    ...extra,
  });

/** Lists the ids of the agents whose calls wait for an approver. */
async function listRequesters(approver: TestAgent, query = ""): Promise<string[]> {
  const path = `${approvalsPath(approver)}?as=approver&status=pending${query}`;
  const { body } = await t.as(approver, "GET", path);
  return (body["approvals"] as Approval[]).map(({ agent_id }) => agent_id);
}

describe("many requests for approvals", () => {
  test("too many requests of one agent to one approver are refused, but not those to or from others", async () => {
    await requestManyApprovals(t, stranger, [ann]);
    const full = { status: 429, body: { code: "approval.too_many" } };
    expect(await ask(stranger, [ann])).toMatchObject(full);
    expect(await ask(stranger, [bob, ann])).toMatchObject(full);
    expect(await ask(stranger, [bob])).toMatchObject({ status: 201 });
    expect(await ask(bob, [ann])).toMatchObject({ status: 201 });
  });

  test("an agent with many requests may send another one after a decision or after an hour", async () => {
    const first = await requestApproval(t, stranger, [ann]);
    await requestManyApprovals(t, stranger, [ann], limits.pendingApprovals - 1);
    const { approval_id } = first;
    expect(await ask(stranger, [ann], { approval_id })).toMatchObject({ status: 200 });
    await voteOn(t, first, ann, "deny");
    expect(await ask(stranger, [ann])).toMatchObject({ status: 201 });
    expect(await ask(stranger, [ann])).toMatchObject({ status: 429 });
    await t.clock.advance(limits.pendingApprovalMs + 1);
    expect(await ask(stranger, [ann])).toMatchObject({ status: 201 });
  });
});

test("a request that one approver decided no longer counts as waiting for another approver", async () => {
  await requestManyApprovals(t, stranger, [ann, bob], limits.pendingApprovals - 1);
  const last = await requestApproval(t, stranger, [ann, bob], 1);
  expect(await ask(stranger, [ann])).toMatchObject({ status: 429 });
  await voteOn(t, last, bob);
  expect(await ask(stranger, [ann])).toMatchObject({ status: 201 });
  expect(await ask(stranger, [ann])).toMatchObject({ status: 429 });
});

describe("the requests of agents that an approver knows", () => {
  test("the requests of agents that an approver knows are listed separately from those of strangers", async () => {
    const approved = await t.createAgent();
    await voteOn(t, await requestApproval(t, approved, [ann]), ann);
    const worker = await createSeller(t, 1);
    const task = await submitAcceptedTask(t, ann, worker);
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    const denied = await t.createAgent();
    await voteOn(t, await requestApproval(t, denied, [ann]), ann, "deny");

    for (const agent of [approved, worker, ann, denied]) {
      await ask(agent, [ann, bob]);
      await t.clock.advance(1);
    }
    await requestManyApprovals(t, stranger, [ann], limits.defaultPageSize);
    expect(await listRequesters(ann)).not.toContain(approved.agentId);
    const known = [ann, worker, approved].map(({ agentId }) => agentId);
    expect(await listRequesters(ann, "&requester=known")).toEqual(known);
    const others = await listRequesters(ann, "&requester=unknown");
    expect(others).toEqual([stranger.agentId, denied.agentId]);
    expect(await listRequesters(bob, "&requester=known")).toEqual([]);
    expect(await listRequesters(bob, "&requester=unknown")).toHaveLength(4);
  });

  test("many requests of strangers leave room for another stranger, because only the newest of each is listed", async () => {
    const honest = await t.createAgent();
    const first = await requestApproval(t, honest, [ann]);
    await t.clock.advance(1);
    const second = await requestApproval(t, honest, [ann, bob], 1);
    const flood = [stranger, await t.createAgent(), await t.createAgent()];
    for (const agent of flood) {
      await t.clock.advance(1);
      await requestManyApprovals(t, agent, [ann], 20);
    }
    const strangers = flood.map(({ agentId }) => agentId).toReversed();
    expect(await listRequesters(ann, "&requester=unknown&limit=4")).toEqual([
      ...strangers,
      honest.agentId,
    ]);
    const path = `${approvalsPath(ann)}?as=approver&requester=unknown&limit=3`;
    const { body } = await t.as(ann, "GET", path);
    const next = await t.as(ann, "GET", `${path}&cursor=${String(body["next_cursor"])}`);
    expect(next.body).toMatchObject({
      approvals: [{ approval_id: second.approval_id }],
      next_cursor: null,
    });

    await voteOn(t, second, bob, "deny");
    const left = await t.as(ann, "GET", `${path}&cursor=${String(body["next_cursor"])}`);
    expect(left.body).toMatchObject({ approvals: [{ approval_id: first.approval_id }] });
    await voteOn(t, first, ann);
    expect(await listRequesters(ann, "&requester=unknown")).toEqual(strangers);
  });

  test("H21: newer requests of free identities are listed after those of strangers whose tasks left fees", async () => {
    const payer = await createBuyer(t, 100);
    const seller = await createSeller(t, 1);
    const [cheap, dear] = [await createSeller(t, 0.01), await createSeller(t, 10)];
    for (const worker of [seller, dear, cheap]) {
      const task = await submitAcceptedTask(t, payer, worker);
      await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    }
    for (const agent of [dear, payer, seller, cheap]) {
      await ask(agent, [ann]);
      await t.clock.advance(1);
    }
    const flood = await Promise.all(Array.from({ length: 5 }, () => t.createAgent()));
    for (const agent of flood) {
      await t.clock.advance(1);
      await ask(agent, [ann]);
    }

    const expected = [payer, dear, seller, cheap, ...flood.toReversed()].map(
      ({ agentId }) => agentId,
    );
    const path = `${approvalsPath(ann)}?as=approver&requester=unknown&limit=4`;
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: string = cursor === null ? path : `${path}&cursor=${cursor}`;
      const { body } = await t.as(ann, "GET", page);
      seen.push(...(body["approvals"] as Approval[]).map(({ agent_id }) => agent_id));
      cursor = body["next_cursor"] as string | null;
    } while (cursor !== null);
    expect(seen).toEqual(expected);
  });

  test("H21: the requests of strangers are ordered by powers of ten of their fees, which are not shown", async () => {
    const payer = await createBuyer(t, 100);
    const [more, less] = [await createSeller(t, 1.9), await createSeller(t, 1)];
    for (const worker of [more, less]) {
      const task = await submitAcceptedTask(t, payer, worker);
      await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
      await ask(worker, [ann]);
      await t.clock.advance(1);
    }
    expect(await listRequesters(ann, "&requester=unknown")).toEqual([less.agentId, more.agentId]);
  });

  test("the requests of an agent that an approver has blocked are not listed to it while they wait", async () => {
    const past = await requestApproval(t, stranger, [ann]);
    await voteOn(t, past, ann);
    await ask(stranger, [ann, bob]);
    const path = `/api/v1/agents/${ann.agentId}/trust/${stranger.agentId}`;
    await t.as(ann, "PUT", path, { trust_level: "blocked" });
    expect(await listRequesters(ann)).toEqual([]);
    expect(await listRequesters(ann, "&requester=known")).toEqual([]);
    expect(await listRequesters(bob)).toEqual([stranger.agentId]);
    const { body } = await t.as(ann, "GET", `${approvalsPath(ann)}?as=approver`);
    expect(body["approvals"]).toMatchObject([{ approval_id: past.approval_id }]);
  });
});
