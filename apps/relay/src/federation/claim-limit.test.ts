import { afterEach, expect, test } from "vitest";
import { putListing, submitAcceptedTask } from "../../test/market.ts";
import {
  advanceUntil,
  closeSites,
  completeTask,
  startTwoSites,
  submitToBest,
  waitForTask,
  type TwoSites,
} from "../../test/network/network.ts";
import { createReceipt } from "../../test/test-relay.ts";

let s: TwoSites;
afterEach(() => closeSites([s.a, s.b], s.proxies));

/** Delegates tasks from a to b and waits until their settlements are paid. */
async function delegate(times: number): Promise<void> {
  const { a, b, boss, worker, clock } = s;
  for (let task = 0; task < times; task += 1) {
    const before = await b.getBalance(worker);
    let id = "";
    // On a busy machine the peer may answer a query, or the first attempt to forward, too late; the next one comes by
    // the clock.
    const submitted = { stepMs: 1_000, what: "the task is submitted" };
    await advanceUntil(clock, [a, b], submitted, async () => {
      const { status, body } = await submitToBest(a, boss);
      id = String(body["task_id"]);
      return status === 201;
    });
    const forwarded = { stepMs: 1_000, what: "the task is forwarded" };
    await advanceUntil(clock, [a, b], forwarded, async () => {
      const { status } = await b.as(worker, "GET", `/agent/${worker.agentId}/task/${id}`);
      return status === 200;
    });
    await completeTask(b, worker, await waitForTask(b, worker, id));
    const isPaid = async () => (await b.getBalance(worker)) > before;
    await advanceUntil(clock, [a, b], { stepMs: 1_000, what: "the worker is paid" }, isPaid);
  }
}

/** The trust in the route to the worker, as scored routing counts it for a stranger. */
async function getRouteTrust(): Promise<number> {
  const { a, clock } = s;
  await clock.advance(60_000);
  const stranger = await a.createAgent();
  await a.deposit(stranger, 10);
  const { status, body } = await submitToBest(a, stranger);
  expect(status).toBe(201);
  const { sub_scores } = body["routing_choice"] as { sub_scores: { trust: number } };
  const { path } = body as { path?: string };
  expect(path).toBeUndefined();
  return sub_scores.trust;
}

test("C6: a peer's claims count as first contact until its tasks have left the fees", async () => {
  s = await startTwoSites({
    alpha: { AGENT_FEDERATION_CREDIT_LIMIT: "1000" },
    beta: { AGENT_FEDERATION_CREDIT_LIMIT: "1000" },
    deposit: 100,
  });
  const { b, worker } = s;
  for (let payer = 0; payer < 2; payer += 1) {
    const local = await b.createAgent();
    await b.deposit(local, 20);
    for (let task = 0; task < 5; task += 1) {
      const ordered = await submitAcceptedTask(b, local, worker);
      await b.as(worker, "POST", `${ordered.path}/result`, createReceipt(worker, ordered));
    }
  }
  await putListing(b, worker, 0.02);
  await delegate(5);
  // The worker is verified at its relay (0.6); tasks whose fees are next to nothing do not count for that relay.
  expect(await getRouteTrust()).toBeCloseTo(0.1 * 0.3, 9);
  await putListing(b, worker, 2);
  await s.clock.advance(60_000);
  await delegate(5);
  expect(await getRouteTrust()).toBeCloseTo(0.6 * 0.6, 9);
});
