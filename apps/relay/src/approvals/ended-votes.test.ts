import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestApproval, useApproval, voteOn } from "../../test/agents/approvals.ts";
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

describe("E25: a vote ends with the key that signed it", () => {
  const revokeDevice = ({ agentId, deviceId }: TestAgent) =>
    t.as(ann, "DELETE", `/api/v1/agents/${agentId}/devices/${deviceId}`);
  const revokeAgent = ({ agentId }: TestAgent) =>
    t.as(ann, "POST", `/api/v1/agents/${agentId}/revoke`, {});
  const rotate = (agent: TestAgent) => {
    const { succession } = createRotation(t, agent);
    return t.as(ann, "POST", `/api/v1/agents/${agent.agentId}/rotate-key`, { succession });
  };
  const pairBrowser = () => createPairedDevice(t, ann, ["approvals:vote"]);

  test.each([
    ["a device that its owner ended", pairBrowser, revokeDevice],
    ["an approver that was revoked", async () => ann, revokeAgent],
    ["a key that was replaced", async () => ann, rotate],
  ])("E25: the vote of %s counts no more", async (_, getVoter, end) => {
    const voter = await getVoter();
    const used = await requestApproval(t, agent, [ann, bob], 2);
    const [approved, pending] = [
      await requestApproval(t, agent, [ann, bob], 2),
      await requestApproval(t, agent, [ann, bob, cid], 2),
    ];
    for (const each of [used, approved, pending]) await voteOn(t, each, voter);
    for (const each of [used, approved]) await voteOn(t, each, bob);
    expect(await useApproval(t, agent, used)).toMatchObject({ status: 200 });
    expect((await end(voter)).status).toBe(200);

    const refused = refusal(409, "approval.not_approved");
    expect(await useApproval(t, agent, approved)).toMatchObject(refused);
    expect((await voteOn(t, pending, bob)).body).toMatchObject({ status: "pending" });
    expect(await useApproval(t, agent, pending)).toMatchObject(refused);
    expect((await voteOn(t, pending, cid)).body).toMatchObject({ status: "approved" });
    expect(await useApproval(t, agent, pending)).toMatchObject({ status: 200 });
  });

  test("E25: an approver votes again after the device that voted for it has ended", async () => {
    const browser = await pairBrowser();
    const approval = await requestApproval(t, agent, [ann, bob], 2);
    await voteOn(t, approval, browser);
    expect(await voteOn(t, approval, ann)).toMatchObject(refusal(409, "approval.already_voted"));
    await revokeDevice(browser);
    expect(await voteOn(t, approval, ann)).toMatchObject({ status: 200 });
    expect((await voteOn(t, approval, bob)).body).toMatchObject({ status: "approved" });
    expect(await useApproval(t, agent, approval)).toMatchObject({ status: 200 });
  });
});
