import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { credentialsPath } from "../../test/agents/credentials.ts";
import {
  beginCase,
  beginDispute,
  type Case,
  createArbiter,
  createParties,
  decide,
  deliver,
  getCase,
  giveVerdict,
  type Parties,
  passDeadline,
  putOffer,
} from "../../test/inspections.ts";
import { bootstrapWithProof, createAgentWithKeyOf } from "../../test/agents/key-proof.ts";
import {
  createBuyer,
  createSeller,
  expectConsistentBooks,
  getAgentStates,
  submitAcceptedTask,
  submitTask,
} from "../../test/market.ts";
import { claimPairing, createPairedDevice, openPairing } from "../../test/agents/pairing.ts";
import { createRotation } from "../../test/agents/rotation.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  parties = await createParties(t);
});
afterEach(() => t.close());

/** Gives an agent a new key, and creates another one that proves the former key: both have one owner. */
async function createTwin(agent: TestAgent): Promise<readonly [TestAgent, TestAgent]> {
  const { next, succession } = createRotation(t, agent);
  const path = `/api/v1/agents/${agent.agentId}/rotate-key`;
  expect((await t.as(agent, "POST", path, { succession })).status).toBe(200);
  const twin = createAgentWithKeyOf(t, agent);
  const { status, body } = await bootstrapWithProof(t, twin);
  expect(status).toBe(201);
  return [next, { ...twin, deviceId: String(body["device_id"]) }];
}

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
      const [party, twin] = await createTwin(parties[role]);
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
  /** The submitter is another identity of the executor's owner. */
  async function createOneOwner(): Promise<Parties> {
    const [worker, boss] = await createTwin(parties.worker);
    await t.deposit(boss, 100);
    return { ...parties, boss, worker };
  }

  test("IS41: an agent that counts as one with the arbiter, without a common key, displaces no other executor", async () => {
    const { boss, worker, arbiter } = parties;
    const [, twin] = await createTwin(arbiter);
    await t.clock.advance(1);
    const [rotated] = await createTwin(twin);
    await t.clock.advance(1);
    const [, related] = await createTwin(rotated);
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
    const own = await createOneOwner();
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
    const own = await createOneOwner();
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
    const own = await createOneOwner();
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

  /** The parties of the further cases, by their relation to the submitter. */
  async function createFurther(kind: string, others: Parties, own: Parties): Promise<Parties> {
    if (kind === "own") return own;
    if (kind === "cheap") await putOffer(t, own.arbiter, { price: 0.000001 });
    return kind === "cheap" ? { ...others, worker: own.arbiter } : others;
  }

  test.each([
    ["IS4: a tenth of the cases with other agents may be rejected", "paid", 201],
    ["IS14: cases between agents that count as one allow no further rejections", "own", 429],
    ["IS35: cases about negligible sums allow no further rejections", "cheap", 429],
    ["IS35: cases that are still open allow no further rejections", "open", 429],
  ])(
    "%s",
    async (_title, kind, status) => {
      const own = await createOneOwner();
      const others = { ...(await createParties(t)), boss: own.boss };
      await t.deposit(own.boss, 900);
      const begin = (count: number, among: Parties) =>
        Promise.all(Array.from({ length: count }, () => beginCase(t, among)));
      const rejected = await begin(21, others);
      const further = await begin(205, await createFurther(kind, others, own));
      if (kind !== "open") {
        await Promise.all(further.map((given) => giveVerdict(t, given, "accepted")));
      }
      const ask = async () =>
        (await submitTask(t, own.boss, others.worker, { acceptance: {} })).status;
      for (const given of rejected.slice(0, 20)) await giveVerdict(t, given, "rejected");
      expect(await ask()).toBe(status);
      await giveVerdict(t, rejected[20]!, "rejected");
      expect(await ask()).toBe(429);
    },
    60_000,
  );
});

test(
  "IS15: an arbiter has at most 100 cases of one size, even if they are contested at once",
  { timeout: 120_000 },
  async () => {
    const { worker, arbiter } = parties;
    await t.deposit(worker, 50);
    const rejected: Case[] = [];
    for (let buyer = 0; buyer < 6; buyer += 1) {
      const boss = await createBuyer(t, 100);
      for (let count = 0; count < 17; count += 1) {
        const given = await beginCase(t, { ...parties, boss }, { arbiter_id: arbiter.agentId });
        await giveVerdict(t, given, "rejected");
        rejected.push(given);
      }
    }
    const answers = await Promise.all(rejected.map((given) => giveVerdict(t, given, "contested")));
    const arbiters = answers.map(({ body }) => body["arbiter_id"]);
    expect(arbiters.filter((id) => id === arbiter.agentId)).toHaveLength(100);
    const waiting = await t.asOperator("GET", "/api/v1/admin/disputes");
    expect(waiting.body["inspections"]).toHaveLength(2);
    // A decision makes room for the next case.
    const mine = rejected[arbiters.indexOf(arbiter.agentId)]!;
    await decide(t, mine, 1);
    const next = await beginDispute(t, { ...parties, boss: await createBuyer(t, 10) });
    expect((await getCase(t, next)).arbiter_id).toBe(arbiter.agentId);
    await expectConsistentBooks(t);
  },
);

test("IS16: a close is paid even above the balance limit, and the account can still hold, contest and withdraw", async () => {
  const { worker } = parties;
  const fill = async (agent: TestAgent) => {
    for (let left = 9_000_000_000 - (await t.getBalance(agent)) - 0.5; left > 0;) {
      const amount = Math.min(left, 1_000_000_000);
      await t.deposit(agent, amount);
      left -= amount;
    }
  };
  const open = await beginCase(t, parties);
  const next = await beginCase(t, parties);
  await t.deposit(parties.boss, 10);
  const later = await beginCase(t, parties);
  await fill(worker);
  const held = await submitAcceptedTask(t, worker, await createSeller(t, 1), { ttl_ms: 60_000 });
  const withdraw = (amount: number) =>
    t.as(worker, "POST", `/api/v1/agents/${worker.agentId}/withdrawals`, {
      amount,
      destination: "bank",
    });
  const pending = await withdraw(3);
  expect(pending.status).toBe(201);
  for (const given of [open, later]) await giveVerdict(t, given, "accepted");
  const balance = await t.getBalance(worker);
  const account = await t.asOperator("GET", `/api/v1/agents/${worker.agentId}/balance`);
  expect(balance + 3 + Number(account.body["pending_allocations"])).toBeGreaterThan(9_000_000_000);

  await giveVerdict(t, next, "rejected");
  expect((await giveVerdict(t, next, "contested")).status).toBe(200);
  expect((await submitTask(t, worker, await createSeller(t, 1))).status).toBe(201);
  expect((await withdraw(1)).status).toBe(201);
  const failed = `/api/v1/admin/withdrawals/${String(pending.body["withdrawal_id"])}/fail`;
  expect((await t.asOperator("POST", failed, { reason: "closed account" })).status).toBe(200);
  await t.clock.advance(61_000);
  await t.relay.tick();
  expect((await t.asOperator("GET", held.path)).status).toBe(404);
  expect(t.listLogged("job.failed")).toEqual([]);
  const refused = await t.asOperator("POST", `/api/v1/agents/${worker.agentId}/deposit`, {
    amount: 1,
  });
  expect(refused.body["code"]).toBe("money.balance_limit");
  await expectConsistentBooks(t);
});

test("an arbiter that is revoked while it is in charge is replaced by the operator at its deadline", async () => {
  const given = await beginDispute(t, parties);
  await t.asOperator("POST", `/api/v1/agents/${given.arbiter.agentId}/revoke`, {});
  await passDeadline(t, given);
  expect(await getCase(t, given)).toMatchObject({ state: "disputed" });
  expect((await getCase(t, given)).arbiter_id).not.toBe(given.arbiter.agentId);
  await passDeadline(t, given);
  expect(await getCase(t, given)).toMatchObject({ outcome: { outcome: "undecided" } });
  await expectConsistentBooks(t, { holds: 0 });
});

const leave = async (agent: TestAgent) => {
  const { agentId: agent_id } = agent;
  await t.as(agent, "POST", "/api/v1/agents/register", {
    agent_id,
    endpoint_url: "http://127.0.0.1:1/mcp",
    capabilities: ["summarise"],
  });
  expect((await t.as(agent, "DELETE", `/api/v1/agents/${agent_id}`)).status).toBe(200);
};

test("a case whose parties and arbiter left the registry is decided and paid", async () => {
  const given = await beginDispute(t, parties);
  for (const agent of [given.boss, given.worker, given.arbiter]) await leave(agent);
  expect((await decide(t, given, 0.75)).status).toBe(200);
  expect(await t.getBalance(given.worker)).toBe(2.425);
  await expectConsistentBooks(t, { holds: 0 });
});

test("the operator gets the case of an arbiter that left the registry before the contest", async () => {
  const given = await beginCase(t, parties, { arbiter_id: parties.arbiter.agentId });
  await giveVerdict(t, given, "rejected");
  await leave(given.arbiter);
  expect((await giveVerdict(t, given, "contested")).status).toBe(200);
  expect((await getCase(t, given)).arbiter_id).not.toBe(given.arbiter.agentId);
});

test("an arbiter that accepts no more cases can still decide those that it has", async () => {
  const given = await beginDispute(t, parties);
  const path = `/api/v1/agents/${given.arbiter.agentId}/listing`;
  await t.as(given.arbiter, "POST", path, { capabilities: [] });
  expect((await decide(t, given, 0.75)).status).toBe(200);
  const other = await createArbiter(t);
  await putOffer(t, parties.worker, { arbiters: [other.agentId, given.arbiter.agentId] });
  const acceptance = { arbiter_id: given.arbiter.agentId };
  const { body } = await submitTask(t, given.boss, given.worker, { acceptance });
  expect(body["code"]).toBe("acceptance.arbiter_invalid");
});
