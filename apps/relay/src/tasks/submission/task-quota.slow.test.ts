import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createReceipt, type TestAgent } from "@agent/testkit";
import {
  createBuyer,
  submitAcceptedTask,
  getAgentStates,
  createSeller,
  submitTask,
  type Delegation,
} from "../../../test/market.ts";
import { createFakePeer } from "../../../test/network/fake-peer.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";
import { migrations } from "../../storage/migrations/index.ts";
import { openMigrated } from "../../../test/stored/migrated-storage.ts";
import { param, compile, sql } from "../../storage/queries/compiled-query.ts";

let t: TestRelay | undefined;
const folder = mkdtempSync(join(tmpdir(), "relay-counters-"));
afterEach(() => t?.close());
afterAll(() => rmSync(folder, { recursive: true }));

const setCount = compile<{ scope: string; live: number }>()(
  sql<never>`insert into task_counters (scope, live) values (${param("scope")}, ${param("live")})
    on conflict (scope) do update set live = excluded.live`,
);

/** Starts a relay whose counters state the given numbers of open tasks. */
async function relayHolding(live: number): Promise<TestRelay> {
  // The ids of each relay come from one seed, so two must not share a file.
  const path = join(mkdtempSync(join(folder, "relay-")), "relay.db");
  const opened = await openMigrated({ path, migrations });
  if (!opened.ok) throw new Error(opened.detail);
  await opened.storage.transaction((tx) => tx.run(setCount, { scope: "all", live }));
  await opened.storage.close();
  return startTestRelay({ AGENT_DB_PATH: path });
}

describe("full quotas of submitters", () => {
  async function full(): Promise<[TestRelay, TestAgent, TestAgent, Delegation[]]> {
    t = await startTestRelay();
    const [boss, worker] = [await createBuyer(t, 2_000), await createSeller(t, 1)];
    const open: Delegation[] = [];
    for (let i = 0; i < 10; i++) {
      open.push(
        ...(await Promise.all(
          Array.from({ length: 100 }, () => submitAcceptedTask(t!, boss, worker)),
        )),
      );
    }
    return [t, boss, worker, open];
  }

  test("a submitter with 1,000 open tasks is refused one more with 429, and others are not", async () => {
    const [relay, boss, worker] = await full();
    const before = await getAgentStates(relay, [boss]);
    const answer = await submitTask(relay, boss, worker);
    expect(answer).toMatchObject({ status: 429, body: { code: "task.submitter_full" } });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await getAgentStates(relay, [boss])).toEqual(before);
    expect((await submitTask(relay, await createBuyer(relay, 2), worker)).status).toBe(201);
  });

  test("a submitter regains a slot for each task that is finished, cancelled or expired", async () => {
    const [relay, boss, worker, open] = await full();
    const [done, cancelled] = open as [Delegation, Delegation];
    const next = async () => (await submitTask(relay, boss, worker)).status;
    await relay.as(worker, "POST", `${done.path}/result`, createReceipt(worker, done));
    await relay.as(boss, "POST", `${cancelled.path}/cancel`);
    expect([await next(), await next(), await next()]).toEqual([201, 201, 429]);
    await relay.clock.advance(900_000);
    await relay.relay.tick();
    expect(await next()).toBe(201);
  });
});

describe("full relays", () => {
  test("a relay with 100,000 open tasks refuses one more with 503 until one has ended", async () => {
    t = await relayHolding(99_999);
    const [boss, worker] = [await createBuyer(t, 100), await createSeller(t, 10)];
    const last = await submitAcceptedTask(t, boss, worker);
    const before = await getAgentStates(t, [boss]);
    const answer = await submitTask(t, boss, worker);
    expect(answer).toMatchObject({ status: 503, body: { code: "task.relay_full" } });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await getAgentStates(t, [boss])).toEqual(before);
    await t.as(boss, "POST", `${last.path}/cancel`);
    expect((await submitTask(t, boss, worker)).status).toBe(201);
  });
});

describe("H20: slots that many share", () => {
  test("H20: free tasks fill at most half of a relay, and paid tasks are accepted beside them", async () => {
    t = await relayHolding(49_999);
    const [stranger, buyer] = [await t.createAgent(), await createBuyer(t, 10)];
    const free = await createSeller(t, 0);
    expect((await submitTask(t, stranger, free)).status).toBe(201);
    const refused = await submitTask(t, stranger, free);
    expect(refused).toMatchObject({ status: 503, body: { code: "task.relay_full" } });
    expect(refused.body["error"]).toContain("50000");
    const cheap = await createSeller(t, 0.000_999);
    expect(await submitTask(t, buyer, cheap)).toMatchObject({ status: 503 });
    const paid = await createSeller(t, 0.001);
    expect((await submitTask(t, buyer, paid)).status).toBe(201);
  });

  test.each([
    ["0.001 USD fill at most 60,000 slots", 59_999, 0.001, 0.01],
    ["0.01 USD fill at most 70,000 slots", 69_999, 0.01, 0.1],
    ["1 USD fill at most 90,000 slots", 89_999, 1, 10],
  ])(
    "H20: tasks of %s, and dearer ones are accepted beside them",
    async (_, live, price, dearer) => {
      t = await relayHolding(live);
      const buyer = await createBuyer(t, 100);
      const [cheap, dear] = [await createSeller(t, price), await createSeller(t, dearer)];
      expect((await submitTask(t, buyer, cheap)).status).toBe(201);
      const refused = await submitTask(t, buyer, cheap);
      expect(refused).toMatchObject({ status: 503, body: { code: "task.relay_full" } });
      expect(refused.body["error"]).toContain(`below ${dearer} USD at most ${live + 1} open tasks`);
      expect((await submitTask(t, buyer, dear)).status).toBe(201);
    },
  );

  test("H20: free tasks of a peer's users leave half of the peer's slots to its paid tasks", async () => {
    t = await startTestRelay({
      AGENT_FEDERATION_ENDPOINT_URL: "http://127.0.0.1:1",
      AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
    });
    const peer = await createFakePeer(t).completeHandshake();
    const [free, paid] = [await t.createWorker(0), await t.createWorker(1)];
    const forwardFree = () =>
      peer.forward({ target_agent: free.agentId, budget: { amount: 0, currency: "USD" } });
    for (let i = 0; i < 5; i++) {
      const sent = await Promise.all(Array.from({ length: 100 }, forwardFree));
      expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 202));
    }
    const refused = await forwardFree();
    expect(refused).toMatchObject({ status: 429, body: { code: "task.submitter_full" } });
    expect((await peer.forward({ target_agent: paid.agentId })).status).toBe(202);
  });
});
