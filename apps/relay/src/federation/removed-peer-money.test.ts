import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getTaskAt } from "../../test/market.ts";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  addPeer,
  advanceUntil,
  claimTask,
  closeSites,
  completeTask,
  getReconciliation,
  listPeers,
  removePeer,
  startTwoSites,
  waitForTask,
  waitUntil,
  type TestSite,
  type TwoSites,
} from "../../test/network/network.ts";

let sites: TwoSites;
let chooseAction: (path: string) => ProxyAction;
beforeEach(async () => {
  chooseAction = () => "pass";
  sites = await startTwoSites({ chooseAction: (path) => chooseAction(path) });
});
afterEach(() => closeSites([sites.a, sites.b], sites.proxies));

/** Names the relay whose operator ends the peering, and the other one. */
const enders: readonly [string, () => readonly [TestSite, TestSite]][] = [
  ["the relay that sent it", () => [sites.a, sites.b]],
  ["the relay that has it", () => [sites.b, sites.a]],
];

/** Submits a task at alpha, and returns it as the worker at beta sees it, with its path. */
async function begin() {
  const { a, b, boss, worker } = sites;
  const to = `/agent/${worker.agentId}/task`;
  const { body } = await a.as(boss, "POST", to, { prompt: "work" });
  const task = await waitForTask(b, worker, String(body["task_id"]));
  const path = `${to}/${task.task_id}`;
  await claimTask(b, worker, path);
  return { task, path };
}

const advance = (what: string, condition: () => Promise<boolean>) =>
  advanceUntil(sites.clock, [sites.a, sites.b], { stepMs: 600_000, what }, condition);

const isWorkerPaid = async () => (await sites.b.getBalance(sites.worker)) === 0.9025;

async function expectPaid(): Promise<void> {
  const { a, b, boss } = sites;
  await advance("a payment", isWorkerPaid);
  await advance("a charge", async () => (await listPeers(a))[0]?.reserved === 0);
  expect(await a.getBalance(boss)).toBe(9);
  expect((await listPeers(a))[0]).toMatchObject({ state: "removed", position: 0.95 });
  expect((await listPeers(b))[0]).toMatchObject({ state: "removed", position: -0.95 });
  for (const site of [a, b])
    expect(await getReconciliation(site)).toMatchObject({ consistent: true });
}

describe.each(enders)(
  "work that had begun before the operator of %s ended the peering",
  (_, pick) => {
    test("MN47: a worker is paid for a result that it delivers afterwards", async () => {
      const { b, worker } = sites;
      const { task } = await begin();
      await removePeer(...pick());
      expect(await completeTask(b, worker, task)).toMatchObject({ status: 200 });
      await expectPaid();
    });

    test("MN47: a worker is paid for an accepted result whose settlement arrives afterwards", async () => {
      const { a, b, worker } = sites;
      const { task, path } = await begin();
      chooseAction = (path) => (path.includes("/settlement") ? "refuse" : "pass");
      await completeTask(b, worker, task);
      await waitUntil(async () => (await getTaskAt(a, path)).status === "completed", "a result");
      await removePeer(...pick());
      chooseAction = () => "pass";
      await expectPaid();
    });

    test("MN47: a settlement whose answer was lost is booked once, and the peer can be asked about it", async () => {
      const { b, worker } = sites;
      const { task } = await begin();
      chooseAction = (path) => (path.endsWith("/settlement/forward") ? "lose-answer" : "pass");
      await completeTask(b, worker, task);
      await waitUntil(isWorkerPaid, "a payment");
      await removePeer(...pick());
      chooseAction = (path) => (path.endsWith("/settlement/forward") ? "refuse" : "pass");
      await expectPaid();
    });

    test("FE33: a cancel reaches the relay that has the task, and the money is released", async () => {
      const { a, b, boss, worker } = sites;
      const { path } = await begin();
      await removePeer(...pick());
      expect(await a.as(boss, "POST", `${path}/cancel`)).toMatchObject({ status: 202 });
      await b.as(worker, "DELETE", `${path}/claim`);
      const isReleased = async () => (await a.getBalance(boss)) === 10;
      await advanceUntil(sites.clock, [a, b], { stepMs: 15_000, what: "a release" }, isReleased);
    });
  },
);

test("MN48: a peer that is removed and added again still owes what it has accepted and not settled", async () => {
  const { a, b, clock, worker } = sites;
  const { task, path } = await begin();
  chooseAction = (path) => (path.includes("/settlement") ? "refuse" : "pass");
  await completeTask(b, worker, task);
  await waitUntil(async () => (await getTaskAt(a, path)).status === "completed", "a result");
  await removePeer(b, a);
  const isDefault = async () => (await listPeers(b))[0]?.defaulted === 0.95;
  await advanceUntil(clock, [b], { stepMs: 3_600_000, what: "a default" }, isDefault);
  await addPeer(b, a);
  expect((await listPeers(b))[0]).toMatchObject({
    state: "active",
    credit_limit: 0,
    defaulted: 0.95,
  });
});
