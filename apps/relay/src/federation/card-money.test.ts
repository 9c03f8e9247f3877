import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  cardEnv,
  createRefundEvent,
  payByCard,
  sendEvent,
} from "../../test/payments/card-processor.ts";
import { submitAcceptedTask } from "../../test/market.ts";
import {
  advanceUntil,
  closeSites,
  completeTask,
  getPeerPositions,
  getReconciliation,
  startTwoSites,
  waitForTask,
  type TestSite,
  type TwoSites,
} from "../../test/network/network.ts";

const WEEK_MS = 604_800_000;
const held = { status: 402, body: { code: "budget.card_hold" } };

let s: TwoSites;
let payer: TestAgent;
/** This agent sells for 20 at b, and for 18 at a. */
let remoteWorker: TestAgent;
let localWorker: TestAgent;
beforeEach(async () => {
  const env = { AGENT_FEDERATION_CREDIT_LIMIT: "20" };
  s = await startTwoSites({
    alpha: { ...cardEnv("http://127.0.0.1:1"), ...env, AGENT_RELAY_ISSUE_CREDENTIALS: "true" },
    beta: env,
    deposit: 25,
  });
  payer = await s.a.createAgent();
  remoteWorker = await s.b.createWorker(20);
  localWorker = await s.a.createWorker(18);
});
afterEach(() => closeSites([s.a, s.b], s.proxies));

/** Delegates a task to the other relay and waits until its worker is paid. */
async function buyRemotely(from: TestSite, by: TestAgent, to: TestSite, worker: TestAgent) {
  const before = await to.getBalance(worker);
  const sent = { stepMs: 6_000, what: "the task is accepted" };
  const submitted = await submitAcceptedTask(from, by, worker);
  const path = `/agent/${worker.agentId}/task/${submitted.task_id}`;
  await advanceUntil(s.clock, [s.a, s.b], sent, async () => {
    return (await to.as(worker, "GET", path)).status === 200;
  });
  await completeTask(to, worker, await waitForTask(to, worker, submitted.task_id));
  const paid = { stepMs: 1_000, what: "the worker is paid" };
  await advanceUntil(s.clock, [s.a, s.b], paid, async () => (await to.getBalance(worker)) > before);
}

const withdraw = (amount: number) =>
  s.a.as(localWorker, "POST", `/api/v1/agents/${localWorker.agentId}/withdrawals`, {
    amount,
    destination: "IBAN 1",
  });
const getLocalAccount = async () => {
  const { body } = await s.a.as(
    localWorker,
    "GET",
    `/api/v1/agents/${localWorker.agentId}/balance`,
  );
  return { balance: body["balance"], card_held: body["card_held"] };
};

/** Returns the bands of fees that the trust credentials about an agent at a state. */
const feeBands = async ({ agentId }: TestAgent) => {
  const { body } = await s.a.asOperator("GET", `/api/v1/agents/${agentId}/credentials`);
  const stored = body["credentials"] as { credential: { credentialSubject: object } }[];
  return stored.flatMap(({ credential: { credentialSubject } }) =>
    "trust_level" in credentialSubject && "fees_kept_band" in credentialSubject
      ? [credentialSubject.fees_kept_band]
      : [],
  );
};

test("A13, C8: card money that returns through a peer waits as long as before, and its fees back no trust", async () => {
  const { a, b, clock } = s;
  await payByCard(a, payer, { cents: 2_500 });
  await buyRemotely(a, payer, b, remoteWorker);
  await buyRemotely(b, remoteWorker, a, localWorker);
  expect(await getLocalAccount()).toEqual({ balance: 16.245, card_held: 16.245 });
  expect(await withdraw(16)).toMatchObject(held);
  await sendEvent(a, createRefundEvent("pi_1", 2_500));
  expect(await getLocalAccount()).toEqual({ balance: 16.245, card_held: 16.245 });
  expect(await getReconciliation(a)).toMatchObject({ consistent: true });
  expect(await getReconciliation(b)).toMatchObject({ consistent: true });
  expect(await feeBands(localWorker)).toEqual(["0"]);
  await clock.advance(WEEK_MS);
  expect(await withdraw(16)).toMatchObject({ status: 201 });
});

test("A13, C8: money from a peer that received no card money can be withdrawn at once, and its fees count", async () => {
  const { a, b, boss } = s;
  await payByCard(a, payer, { cents: 2_500 });
  await buyRemotely(a, boss, b, remoteWorker);
  await buyRemotely(b, remoteWorker, a, localWorker);
  expect(await getLocalAccount()).toEqual({ balance: 16.245, card_held: 0 });
  expect(await feeBands(localWorker)).toEqual(["0.5"]);
  expect(await withdraw(16)).toMatchObject({ status: 201 });
});

test("A13: card money that repays a peer's credit stays locked at the agents that the peer pays next", async () => {
  const { a, b } = s;
  await b.deposit(remoteWorker, 18);
  await buyRemotely(b, remoteWorker, a, localWorker);
  expect(await withdraw(16.245)).toMatchObject({ status: 201 });
  await payByCard(a, payer, { cents: 2_500 });
  await buyRemotely(a, payer, b, remoteWorker);
  await buyRemotely(b, remoteWorker, a, localWorker);
  expect(await getLocalAccount()).toEqual({ balance: 16.245, card_held: 16.245 });
  expect(await withdraw(1)).toMatchObject(held);
});

test("A13: an external payment to a peer may use card money before its waiting time is over", async () => {
  const { a, b } = s;
  await payByCard(a, payer, { cents: 2_500 });
  await buyRemotely(a, payer, b, remoteWorker);
  const path = `/api/v1/admin/federation/peers/${b.relayId}/settle`;
  const payment = { amount: 19, direction: "sent", reference: "wire 1" };
  expect(await a.asOperator("POST", path, payment)).toMatchObject({ status: 200 });
  expect(await getPeerPositions(a)).toEqual({ [b.relayId]: 0 });
  expect(await getReconciliation(a)).toMatchObject({ consistent: true });
});
