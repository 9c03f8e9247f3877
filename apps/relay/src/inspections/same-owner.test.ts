import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { credentialsPath } from "../../test/agents/credentials.ts";
import {
  beginCase,
  beginDispute,
  type Case,
  createOneOwner,
  createParties,
  decide,
  deliver,
  getCase,
  giveVerdict,
  type Parties,
  passDeadline,
  putOffer,
} from "../../test/inspections.ts";
import {
  expectConsistentBooks,
  getAgentStates,
  submitAcceptedTask,
  submitTask,
} from "../../test/market.ts";
import { claimPairing, createPairedDevice, openPairing } from "../../test/agents/pairing.ts";
import { createTwin } from "../../test/agents/twins.ts";
import { createRotation } from "../../test/agents/rotation.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  parties = await createParties(t);
});
afterEach(() => t.close());

const inspectionsOf = async ({ agentId }: TestAgent) =>
  (await t.asOperator("GET", `/api/v1/agents/${agentId}`)).body["inspections"];

describe("arbiters with keys of parties", () => {
  const list = (agent: TestAgent) =>
    t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/listing`, {
      capabilities: [],
      arbitrates: true,
    });

  test.each(["boss", "worker"] as const)(
    "IS13: an arbiter is refused if its key is that of the %s",
    async (role) => {
      const [party, twin] = await createTwin(t, parties[role]);
      const boss = role === "boss" ? party : parties.boss;
      const worker = role === "worker" ? party : parties.worker;
      expect((await list(twin)).status).toBe(200);
      await putOffer(t, worker, { arbiters: [twin.agentId] });
      const { body } = await submitTask(t, boss, worker, {
        acceptance: { arbiter_id: twin.agentId },
      });
      expect(body["code"]).toBe("acceptance.arbiter_invalid");
      expect(await t.getBalance(boss)).toBe(10);
    },
  );

  test("IS13: an arbiter that took over the key of a party after the submission gets no case", async () => {
    const { arbiter } = parties;
    const given = await beginCase(t, parties, { arbiter_id: arbiter.agentId });
    const left = createRotation(t, given.worker);
    const rotate = ({ agentId }: TestAgent) => `/api/v1/agents/${agentId}/rotate-key`;
    await t.as(given.worker, "POST", rotate(given.worker), { succession: left.succession });
    const taken = createRotation(t, arbiter, { to: given.worker });
    const answer = await t.as(arbiter, "POST", rotate(arbiter), { succession: taken.succession });
    expect(answer.status).toBe(200);
    const now = { ...given, worker: left.next, arbiter: taken.next };
    await giveVerdict(t, now, "rejected");
    expect((await giveVerdict(t, now, "contested")).status).toBe(200);
    expect((await getCase(t, now)).arbiter_id).not.toBe(arbiter.agentId);
    expect((await decide(t, now, 1)).body["code"]).toBe("inspection.not_found");
  });
});

describe("keys claimed without proof", () => {
  test("IS22: a party that claims a former key of the arbiter does not exclude the arbiter from the case", async () => {
    const { next, succession } = createRotation(t, parties.arbiter);
    const { agentId: arbiter_id, publicKey: public_key } = parties.arbiter;
    await t.as(parties.arbiter, "POST", `/api/v1/agents/${arbiter_id}/rotate-key`, { succession });
    // The submitter chooses the target, and scored routing the executor.
    const { agentId: agent_id } = t.createUnknownAgent();
    const body = { required_capabilities: ["summarise"], acceptance: { arbiter_id } };
    const task = await submitAcceptedTask(t, parties.boss, { agentId: agent_id }, body);
    const given = await deliver(t, { ...parties, arbiter: next, task, receiptHash: "" });
    const claim = { body: { agent_id, public_key } };
    expect((await t.request("POST", "/api/v1/agents/bootstrap", claim)).status).toBe(201);
    await giveVerdict(t, given, "rejected");
    expect((await giveVerdict(t, given, "contested")).body).toMatchObject({ arbiter_id });
    expect((await decide(t, given, 0.75)).status).toBe(200);
  });

  const pair = async (owner: TestAgent, key: TestAgent) => {
    const session = await openPairing(t, owner);
    await claimPairing(t, session, key);
    expect((await t.as(owner, "POST", `/pairing/${session.pairing_id}/approve`)).status).toBe(200);
  };

  test.each(["boss", "worker"] as const)(
    "IS22: a device that the %s paired under a key of the arbiter does not exclude the arbiter from the case",
    async (role) => {
      const { agentId: arbiter_id } = parties.arbiter;
      const given = await beginCase(t, parties, { arbiter_id });
      const device = t.createUnknownAgent();
      await pair(parties.arbiter, device);
      await pair(parties[role], device);
      await giveVerdict(t, given, "rejected");
      expect((await giveVerdict(t, given, "contested")).body).toMatchObject({ arbiter_id });
    },
  );

  test("IS22: an arbiter that shares a key with a party cannot be named, because both may have one owner", async () => {
    const { boss, worker, arbiter } = parties;
    const device = t.createUnknownAgent();
    await pair(boss, device);
    await pair(arbiter, device);
    const acceptance = { arbiter_id: arbiter.agentId };
    const { body } = await submitTask(t, boss, worker, { acceptance });
    expect(body["code"]).toBe("acceptance.arbiter_invalid");
  });

  test("IS22: the arbiter cannot claim the key of a device that a party has proven", async () => {
    const { agentId: arbiter_id } = parties.arbiter;
    const given = await beginCase(t, parties, { arbiter_id });
    const device = await createPairedDevice(t, parties.boss);
    expect((await t.as(device, "GET", `${given.task.path}/inspection`)).status).toBe(200);
    const session = await openPairing(t, parties.arbiter);
    const claimed = await claimPairing(t, session, device);
    expect(claimed.body["code"]).toBe("agent.key_in_use");
  });
});

describe("agents that count as one", () => {
  test("IS41: an agent that counts as one with the arbiter, without a common key, displaces no other executor", async () => {
    const { boss, worker, arbiter } = parties;
    const [, twin] = await createTwin(t, arbiter);
    await t.clock.advance(1);
    const [rotated] = await createTwin(t, twin);
    await t.clock.advance(1);
    const [, related] = await createTwin(t, rotated);
    await putOffer(t, related, { price: 0.5, arbiters: [arbiter.agentId] });
    const acceptance = { arbiter_id: arbiter.agentId };
    const chosen = await submitTask(t, boss, worker, {
      required_capabilities: ["summarise"],
      acceptance,
    });
    expect(chosen.body).toMatchObject({ routing_choice: { selected_agent: worker.agentId } });
    const direct = await submitTask(t, boss, related, { acceptance });
    expect(direct.body["code"]).toBe("acceptance.arbiter_invalid");
  });

  test("IS14: agents that count as one gain no trust, credentials or figures from a case between them", async () => {
    const own = await createOneOwner(t, parties);
    const given = await beginDispute(t, own);
    await decide(t, given, 1);
    const accepted = await beginCase(t, own);
    await giveVerdict(t, accepted, "accepted");
    const none = { closed: 0, rejected: 0, lost: 0 };
    expect(await inspectionsOf(own.boss)).toMatchObject({ as_delegator: none });
    expect(await inspectionsOf(own.worker)).toMatchObject({ as_executor: none });
    expect(await inspectionsOf(own.arbiter)).toMatchObject({
      as_arbiter: { decided: 0, passed: 0 },
    });
    expect((await getAgentStates(t, [own.boss]))[0]?.trust).toEqual([]);
    const { body } = await t.asOperator("GET", credentialsPath(own.worker));
    expect(body["credentials"] ?? []).toEqual([]);
    expect(await getCase(t, given)).toMatchObject({ outcome: { outcome: "decided", share: 1 } });
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("IS14: agents that count as one change neither the record of an arbiter nor that of the operator", async () => {
    const own = await createOneOwner(t, parties);
    const cases: Case[] = [];
    for (let count = 0; count < 3; count += 1) cases.push(await beginDispute(t, own));
    // All were contested in the same ms, so the arbiter's time ends for all of them at the same moment.
    await passDeadline(t, cases[0]!);
    const { boss } = parties;
    const acceptance = { arbiter_id: own.arbiter.agentId };
    expect((await submitTask(t, boss, own.worker, { acceptance })).status).toBe(201);
    await passDeadline(t, cases[0]!);
    expect(await getCase(t, cases[2]!)).toMatchObject({ outcome: { outcome: "undecided" } });
    const { body } = await t.request("GET", "/.well-known/agent-relay.json");
    expect(body["disputes"]).toMatchObject({ opened: 0, decided: 0, undecided: 0 });
  });

  test("IS14: agents that count as one do not hide the cases that one of them lost against others", async () => {
    const own = await createOneOwner(t, parties);
    const others = { ...(await createParties(t)), boss: own.boss };
    const won: Case[] = [];
    for (let count = 0; count < 6; count += 1) won.push(await beginDispute(t, own));
    for (let count = 0; count < 5; count += 1) {
      await giveVerdict(t, await beginDispute(t, others, { named: false }), "accepted");
    }
    await t.clock.advance(1);
    for (const given of won) expect((await decide(t, given, 0)).status).toBe(200);
    const { body } = await submitTask(t, own.boss, others.worker, { acceptance: {} });
    expect(body["code"]).toBe("acceptance.suspended");
  });
});
