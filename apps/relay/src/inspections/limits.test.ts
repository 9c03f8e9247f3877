import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  beginCase,
  beginDispute,
  createArbiter,
  createParties,
  decide,
  getCase,
  giveVerdict,
  type Parties,
  passDeadline,
  putOffer,
} from "../../test/inspections.ts";
import {
  createSeller,
  expectConsistentBooks,
  submitAcceptedTask,
  submitTask,
} from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  parties = await createParties(t);
});
afterEach(() => t.close());

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
