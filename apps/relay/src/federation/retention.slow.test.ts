import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashReceipt } from "@agent/receipts";
import { createManualClock, type ManualClock, type TestAgent } from "@agent/testkit";
import { readStored } from "../../test/engine/stored.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  completeTaskOfPeer,
  federated,
  relayTask,
} from "../../test/contract/operator/federation.ts";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer } from "../../test/network/listening-peer.ts";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  getReconciliation,
  getPeerPositions,
  submitToBest,
  waitForTask,
  waitUntil,
  type TestSite,
  startTwoSites,
  closeSites,
  advanceUntil,
  type TwoSites,
} from "../../test/network/network.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let folder: string;
let clock: ManualClock;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relay-forwards-"));
  clock = createManualClock();
});
afterEach(() => rmSync(folder, { recursive: true }));

const fileOf = (name: string) => ({ AGENT_DB_PATH: join(folder, `${name}.db`) });

/** Counts the rows that a relay stores about forwards. */
async function keptOf(name: string) {
  const text = `SELECT (SELECT count(*) FROM federation_outbound) AS outbound,
                       (SELECT count(*) FROM federation_outbox) AS outbox,
                       (SELECT count(*) FROM federation_inbound) AS inbound,
                       (SELECT count(*) FROM federation_holds) AS holds`;
  const rows = await readStored<typeof nothing>(fileOf(name).AGENT_DB_PATH, text);
  return rows[0] ?? nothing;
}

const nothing = { outbound: 0, outbox: 0, inbound: 0, holds: 0 };

describe("the records between two relays", () => {
  let proxies: TwoSites["proxies"];
  let chooseAction: (path: string) => ProxyAction;
  let a: TestSite;
  let b: TestSite;
  let boss: TestAgent;
  let worker: TestAgent;

  beforeEach(async () => {
    chooseAction = () => "pass";
    const scene = await startTwoSites({
      clock,
      chooseAction: (path) => chooseAction(path),
      alpha: fileOf("alpha"),
      beta: fileOf("beta"),
    });
    ({ proxies, a, b, boss, worker } = scene);
  });
  afterEach(() => closeSites([a, b], proxies));

  async function work(status: "completed" | "failed"): Promise<void> {
    const submitted = await submitToBest(a, boss);
    const task = await waitForTask(b, worker, String(submitted.body["task_id"]));
    const path = `/agent/${task.agent_id}/task/${task.task_id}/result`;
    await b.as(worker, "POST", path, createReceipt(worker, task, { status }));
    // The clock moves by days from here on, and a result after its task's end does not count.
    await waitUntil(() => a.listLogged("receipt.verified").length === 1, "the result comes back");
  }

  const outbox = async (state: string) => {
    const { body } = await a.asOperator("GET", `/api/v1/admin/federation/outbox?state=${state}`);
    return body["settlements"] as { settlement_id: string; refunded: boolean }[];
  };

  /** Lets the jobs of both relays run until a condition holds. */
  const pass = (stepMs: number, what: string, done: () => Promise<boolean> | boolean) =>
    advanceUntil(clock, [a, b], { stepMs, what }, done);

  const waitUntilPurged = (kept: () => Promise<unknown>, what: object) =>
    pass(
      15 * DAY_MS,
      "it is purged",
      async () => JSON.stringify(await kept()) === JSON.stringify(what),
    );

  test("a task that failed is purged at both relays after 30 days and not before", async () => {
    await work("failed");
    await waitUntil(async () => (await a.getBalance(boss)) === 10, "the hold is returned");
    await clock.advance(29 * DAY_MS);
    await Promise.all([a.relay.tick(), b.relay.tick()]);
    expect([(await keptOf("alpha")).outbound, (await keptOf("beta")).inbound]).toEqual([1, 1]);
    await waitUntilPurged(() => Promise.all([keptOf("alpha"), keptOf("beta")]), [nothing, nothing]);
  });

  test("a settled task is purged at the payer's relay, and the relay that was paid keeps its booking", async () => {
    await work("completed");
    await waitUntil(async () => (await a.getBalance(boss)) === 9, "the payer is charged");
    await waitUntilPurged(
      () => Promise.all([keptOf("alpha"), keptOf("beta")]),
      [nothing, { ...nothing, inbound: 1 }],
    );
    await pass(500 * DAY_MS, "years", () => clock.now() > 1_860_000_000_000);
    expect((await keptOf("beta")).inbound).toBe(1);
    expect([await a.getBalance(boss), await b.getBalance(worker)]).toEqual([9, 0.9025]);
    expect(await getPeerPositions(a)).toEqual({ [b.relayId]: 0.95 });
    for (const site of [a, b])
      expect(await getReconciliation(site)).toMatchObject({ consistent: true });
  });

  test("the key of an agent that has worked for this relay excludes other keys from its id permanently", async () => {
    await work("failed");
    await waitUntilPurged(() => keptOf("alpha"), nothing);
    const taking = (public_key: string) =>
      a.request("POST", "/api/v1/agents/bootstrap", {
        body: { agent_id: worker.agentId, public_key },
      });
    expect(await taking(boss.publicKey)).toMatchObject({ status: 409 });
    expect(await taking(worker.publicKey)).toMatchObject({ status: 201 });
  });

  describe("a settlement that the operator must decide", () => {
    async function held(lost: ProxyAction, beforeRetry = async () => {}): Promise<string> {
      chooseAction = (path) => (path.includes("/settlement") ? lost : "pass");
      await work("completed");
      await pass(600_000, "it is held", async () => (await outbox("failed")).length === 1);
      const [entry] = await outbox("failed");
      await pass(20 * DAY_MS, "60 days", () => clock.now() > 1_760_000_000_000 + 60 * DAY_MS);
      expect(await keptOf("alpha")).toEqual({ ...nothing, outbound: 1, outbox: 1, holds: 1 });
      await beforeRetry();
      chooseAction = () => "pass";
      const path = `/api/v1/admin/federation/outbox/${String(entry?.settlement_id)}/retry`;
      expect(await a.asOperator("POST", path)).toMatchObject({ status: 200 });
      return String(entry?.settlement_id);
    }

    test("an undecided settlement stays stored with its task, and is found as booked however late", async () => {
      await held("lose-answer");
      await waitUntil(async () => (await a.getBalance(boss)) === 9, "the payer is charged");
      expect(await b.getBalance(worker)).toBe(0.9025);
      await waitUntilPurged(() => keptOf("alpha"), nothing);
    });

    test("a settlement that never arrived is refunded even after the other relay has purged its task", async () => {
      await held("refuse", async () => {
        // The peer accepted the result, so its debt is stored until the operator clears it.
        expect(await keptOf("beta")).toEqual({ ...nothing, inbound: 1 });
        const defaults = `/api/v1/admin/federation/peers/${a.relayId}/clear-defaults`;
        expect(await b.asOperator("POST", defaults, { reason: "lost" })).toMatchObject({
          status: 200,
          body: { cleared: 0.95, tasks: 1 },
        });
        await waitUntilPurged(() => keptOf("beta"), nothing);
      });
      await pass(600_000, "it is refunded", async () => (await a.getBalance(boss)) === 10);
      expect(await b.getBalance(worker)).toBe(0);
      expect(await getPeerPositions(a)).toEqual({ [b.relayId]: 0 });
      for (const site of [a, b]) {
        expect(await getReconciliation(site)).toMatchObject({
          consistent: true,
          totals: { holds: 0 },
        });
      }
    });
  });
});

describe("the records of a peer's task", () => {
  let t: TestRelay;
  const start = async (env: Record<string, string> = {}) => {
    t = await startTestRelay({ ...federated, ...fileOf("here"), ...env }, 1, clock);
    return createFakePeer(t).completeHandshake();
  };
  afterEach(() => t.close());

  async function after(ms: number, look: () => Promise<boolean>): Promise<void> {
    await clock.advance(ms);
    await waitUntil(async () => {
      await t.relay.tick();
      await clock.advance(2 * HOUR_MS);
      return look();
    }, "time passes");
  }

  test("a settlement is booked once, is answered alike even years later, and blocks its task id for ever", async () => {
    const from = await start();
    const { settlement, worker, forward } = await completeTaskOfPeer(t, from);
    const settlement_id = t.relay.relayId;
    const settle = () =>
      from.post(
        "/federation/v1/settlement/forward",
        from.createSettlement({ ...settlement, settlement_id }),
      );
    const first = await settle();
    expect(first.status).toBe(200);
    await after(1_000 * DAY_MS, async () => (await keptOf("here")).inbound === 1);
    expect((await settle()).body).toEqual(first.body);
    expect(await t.getBalance(worker)).toBe(0.9025);
    const { signature: _, ...again } = forward;
    expect(
      await from.forward({ ...again, timestamp: clock.now(), expires_at: clock.now() + 1_000 }),
    ).toMatchObject({ status: 409, body: { code: "forward.duplicate" } });
  });

  test("the task id of a purged result is not accepted again either, because receipts stay stored", async () => {
    const from = await start();
    const { forward } = await completeTaskOfPeer(t, from, "failed");
    await after(31 * DAY_MS, async () => (await keptOf("here")).inbound === 0);
    const { signature: _, ...again } = forward;
    expect(
      await from.forward({ ...again, timestamp: clock.now(), expires_at: clock.now() + 1_000 }),
    ).toMatchObject({ status: 409, body: { code: "forward.duplicate" } });
  });

  test("a peer's task is purged like any other, whatever id the peer gave it", async () => {
    const from = await start();
    const worker = await t.createWorker(0);
    const task_id = "ffffffff-ffff-4fff-bfff-ffffffffffff";
    const taken = await from.forward({
      task_id,
      target_agent: worker.agentId,
      budget: { amount: 0, currency: "USD" },
    });
    expect(taken).toMatchObject({ status: 202 });
    const path = `/agent/${worker.agentId}/task/${task_id}`;
    const task = { task_id, prompt: "work", submitted_at: clock.now() };
    await t.as(worker, "POST", `${path}/result`, createReceipt(worker, task));
    await after(29 * DAY_MS, async () => true);
    expect(await t.as(worker, "GET", path)).toMatchObject({ status: 200 });
    await after(DAY_MS, async () => true);
    expect(await t.as(worker, "GET", path)).toMatchObject({ status: 404 });
  });

  test("a result that the peer never accepts is abandoned together with the settlement that depends on it", async () => {
    t = await startTestRelay({ ...federated, ...fileOf("here") }, 1, clock);
    const { next } = await relayTask(t);
    expect(await keptOf("here")).toMatchObject({ outbound: 1, inbound: 1 });
    await after(29 * DAY_MS, async () => (await keptOf("here")).inbound === 1);
    await after(2 * DAY_MS, async () => {
      const { inbound, outbound } = await keptOf("here");
      return inbound + outbound === 0;
    });
    const { body } = await t.asOperator("GET", "/api/v1/admin/federation/peers");
    expect(body["peers"]).toContainEqual(
      expect.objectContaining({ relay_id: next.relayId, position: 0, reserved: 0 }),
    );
    expect(await getReconciliation(t as never)).toMatchObject({
      consistent: true,
      totals: { holds: 0 },
    });
  });

  test("the next relay of a task stays stored while it may be settled, so that no other relay is paid", async () => {
    t = await startTestRelay({ ...federated, ...fileOf("here") }, 1, clock);
    const before = await startListeningPeer(({ path }) =>
      path.endsWith("/task/result") ? { status: "accepted" } : {},
    );
    const { origin, task, worker, receipt } = await relayTask(t, before.url);
    await waitUntil(
      () => t.listLogged("federation.result.returned").length === 1,
      "the result is taken",
    );
    await clock.advance(30 * DAY_MS + 20 * 60_000);
    await t.relay.tick();
    await waitUntil(async () => (await keptOf("here")).holds === 0, "the hold lapses");
    expect(await keptOf("here")).toMatchObject({ outbound: 1, inbound: 1 });
    const settled = await origin.post(
      "/federation/v1/settlement/forward",
      origin.createSettlement({
        task_id: task.task_id,
        agent_id: worker.agentId,
        receipt_hash: hashReceipt(receipt),
      }),
    );
    expect(settled).toMatchObject({ status: 200, body: { status: "settled" } });
    expect(await keptOf("here")).toMatchObject({ outbox: 1, holds: 1 });
    expect(await getReconciliation(t as never)).toMatchObject({
      consistent: true,
      totals: { balances: 0 },
    });
    await before.close();
  });

  test("everything stays stored when the retention is 0 days", async () => {
    const from = await start({ AGENT_RETENTION_DAYS: "0" });
    await completeTaskOfPeer(t, from, "failed");
    await after(1_000 * DAY_MS, async () => true);
    expect(await keptOf("here")).toMatchObject({ inbound: 1 });
  });
});
