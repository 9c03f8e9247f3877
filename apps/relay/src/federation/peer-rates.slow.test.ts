import { createReceipt } from "@agent/testkit";
import { limits, type Task } from "@agent/wire";
import { afterEach, describe, expect, test } from "vitest";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import {
  advanceUntil,
  closeSites,
  completeTask,
  getReconciliation,
  startTwoSites,
  waitForTask,
  waitUntil,
  type TestSite,
  type TwoSites,
  getPeer,
} from "../../test/network/network.ts";
import { startTestRelay } from "../../test/test-relay.ts";

const MINUTE_MS = 60_000;
const limited = { AGENT_RATE_LIMIT_SCALE: "1" };

let sites: TwoSites | undefined;
afterEach(async () => {
  if (sites !== undefined) await closeSites([sites.a, sites.b], sites.proxies);
  sites = undefined;
});

/** Lets the jobs of both relays run at the present time. */
async function runJobs({ a, b }: TwoSites): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await Promise.all([a.relay.tick(), b.relay.tick()]);
    await Promise.all([a.relay.idle(), b.relay.idle()]);
  }
}

let askedIds = 0;
/** Looks up 45 agents that no relay has, as an agent of the site may. */
async function flood(site: TestSite, token: string): Promise<void> {
  for (let asked = 0; asked < 45; asked += 1) {
    askedIds += 1;
    const id = `0199c800-0000-7000-8000-${String(askedIds).padStart(12, "0")}`;
    const answer = await fetch(`${site.url}/api/v1/agents/${id}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await answer.text();
  }
}

/** Submits a task of the boss, and has the worker complete it while a site is flooded by look-ups. */
async function runFlooded(flooded: "a" | "b"): Promise<TwoSites> {
  const started = await startTwoSites({ alpha: limited, beta: limited });
  sites = started;
  const { a, b, boss, worker, clock } = started;
  const stranger = await started[flooded].createAgent();
  await clock.advance(MINUTE_MS);
  const path = `/agent/${worker.agentId}/task`;
  const { body } = await a.as(boss, "POST", path, { prompt: "work", max_budget: 2 });
  const task = await waitForTask(b, worker, String(body["task_id"]));
  await clock.advance(MINUTE_MS);
  const floodAgain = async () => flood(started[flooded], await started[flooded].token(stranger));
  await floodAgain();
  expect(await completeTask(b, worker, task)).toMatchObject({ status: 200 });
  await runJobs(started);
  for (const pause of [30_000, 120_000, 480_000]) {
    await clock.advance(pause - 1_000);
    await floodAgain();
    await clock.advance(1_000);
    await runJobs(started);
  }
  return started;
}

describe("look-ups of a relay's users", () => {
  test.each([
    ["the payer's relay do not stop a settlement", "a"],
    ["the payee's relay do not stop a result", "b"],
  ] as const)("look-ups of users at %s", { timeout: 60_000 }, async (_, flooded) => {
    const { a, b, boss, worker } = await runFlooded(flooded);
    expect([await a.getBalance(boss), await b.getBalance(worker)]).toEqual([9, 0.9025]);
    expect(a.listLogged("settlement.retry.refunded")).toEqual([]);
    expect(await getReconciliation(a)).toMatchObject({ consistent: true });
    for (const site of [a, b]) {
      expect(await getPeer(site)).toMatchObject({ state: "active", missed_heartbeats: 0 });
    }
  });

  test("look-ups of a relay's users reach a peer up to a limit for each minute, and again in the next minute", async () => {
    const asked: string[] = [];
    const chooseAction = (path: string) => {
      if (path.endsWith("/discover")) asked.push(path);
      return "pass" as const;
    };
    sites = await startTwoSites({ alpha: limited, beta: limited, chooseAction });
    const { a, b, boss, clock } = sites;
    const others = await Promise.all(Array.from({ length: 5 }, () => b.createWorker(1)));
    await clock.advance(MINUTE_MS);
    asked.length = 0;
    const find = async (agentId: string) =>
      (await a.as(boss, "GET", `/api/v1/agents/${agentId}`)).status;
    // An honest number of look-ups is answered.
    for (const { agentId } of others) expect(await find(agentId)).toBe(200);
    await flood(a, await a.token(boss));
    expect(asked).toHaveLength(limits.federationQueries);
    // An agent that is known is still found; another one is unknown until the minute is over.
    await clock.advance(30_000);
    expect(await find(others[0]!.agentId)).toBe(200);
    const late = await b.createWorker(1);
    expect(await find(late.agentId)).toBe(404);
    await clock.advance(MINUTE_MS);
    expect(await find(late.agentId)).toBe(200);
  });
});

test("a peer may send 30 requests of each operation a minute, and one more is refused", async () => {
  const env = { AGENT_FEDERATION_ENDPOINT_URL: "http://relay.test", ...limited };
  const t = await startTestRelay(env);
  const peer = await createFakePeer(t).completeHandshake();
  const discover = (at: number) =>
    peer.post("/federation/v1/discover", {
      hop_count: 0,
      max_hops: 0,
      visited: [],
      query_id: `0199c800-0000-7000-8000-${String(at).padStart(12, "0")}`,
      origin_relay: peer.relayId,
    });
  for (let at = 0; at < limits.federationRequests; at += 1) {
    expect(await discover(at)).toMatchObject({ status: 200 });
  }
  const refused = await discover(limits.federationRequests);
  expect(refused).toMatchObject({ status: 429, body: { code: "rate.exceeded" } });
  expect(refused.headers.get("retry-after")).toBe("60");
  // Other operations are not affected.
  expect(await peer.heartbeat()).toMatchObject({ status: 200 });
  expect(await peer.get("/federation/v1/settlements")).toMatchObject({ status: 200 });
  await t.close();
});

describe("busy peers", () => {
  async function submitAndComplete({ a, b, boss, worker }: TwoSites): Promise<void> {
    const path = `/agent/${worker.agentId}/task`;
    const { body } = await a.as(boss, "POST", path, { prompt: "work", max_budget: 2 });
    const task: Task = await waitForTask(b, worker, String(body["task_id"]));
    const receipt = createReceipt(worker, task);
    await b.as(worker, "POST", `${path}/${task.task_id}/result`, receipt);
  }

  const outboxOf = async ({ a }: TwoSites) => {
    const { body } = await a.asOperator("GET", "/api/v1/admin/federation/outbox");
    return (body["settlements"] as Record<string, unknown>[])[0];
  };

  const isAboutMoney = (path: string) => path.includes("/settlement");

  test("a settlement to a busy peer is paid when the peer accepts it, even hours after six attempts", async () => {
    let isBusy = true;
    let refused = 0;
    const chooseAction = (path: string) => {
      if (!isBusy || !isAboutMoney(path)) return "pass" as const;
      refused += 1;
      return "busy" as const;
    };
    const started = (sites = await startTwoSites({ chooseAction }));
    await submitAndComplete(started);
    const { a, b, worker, clock } = started;
    const pass = { stepMs: MINUTE_MS, what: "it is refused many times" };
    await advanceUntil(clock, [a, b], pass, () => refused > 20);
    expect(await outboxOf(started)).toMatchObject({ state: "pending", refunded: false });
    isBusy = false;
    await advanceUntil(clock, [a, b], { ...pass, what: "it is paid" }, async () => {
      return (await b.getBalance(worker)) === 0.9025;
    });
  });

  test("a settlement to a peer that is always busy is left to the operator after 7 days, without a refund", async () => {
    const chooseAction = (path: string) => (isAboutMoney(path) ? "busy" : "pass");
    const started = (sites = await startTwoSites({ chooseAction }));
    await submitAndComplete(started);
    const { a, b, boss, clock } = started;
    await waitUntil(async () => (await outboxOf(started)) !== undefined, "it is to be settled");
    await clock.advance(6 * 86_400_000);
    await runJobs(started);
    expect(await outboxOf(started)).toMatchObject({ state: "pending" });
    const pass = { stepMs: 3_600_000, what: "it is held" };
    await advanceUntil(clock, [a, b], pass, async () => {
      return (await outboxOf(started))?.["state"] === "failed";
    });
    expect(await outboxOf(started)).toMatchObject({ state: "failed", refunded: false });
    expect(a.listLogged("federation.settlement.held")).toHaveLength(1);
    // The whole hold stays until the operator decides.
    expect(await a.getBalance(boss)).toBe(8.8);
  });
});
