import { randomUUID } from "node:crypto";
import { createReceipt, startBalancer, type Balancer } from "@agent/testkit";
import { runStatement } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { onlyOn } from "../engine/engine.ts";
import { openDatabaseOf } from "../engine/database-of-path.ts";
import { createLoadAgents, listMissing, requestJson, runLoad } from "../load.ts";
import {
  endRelays,
  minimalEnv,
  startRelay,
  type RelayProcess,
} from "../processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";
import { listenAsDevice } from "./listen-as-device.ts";

let databaseUrl: string;
/** The running processes, each with its address once it listens. */
const running = new Map<RelayProcess, string>();
let balancer: Balancer;

async function start(): Promise<RelayProcess> {
  const env = { ...minimalEnv, AGENT_DATABASE_URL: databaseUrl };
  const relay = startRelay(env, { isExact: true });
  running.set(relay, await relay.baseUrl);
  return relay;
}

async function kill(relay: RelayProcess): Promise<void> {
  relay.kill("SIGKILL");
  running.delete(relay);
  await relay.ended;
}

const urlOf = (relay: RelayProcess) => running.get(relay) ?? "";
const query = (text: string) => runStatement(databaseUrl, text);

async function expectConsistentBooks(url: string): Promise<void> {
  const books = await requestJson(`${url}/api/v1/admin/reconciliation`, OPERATOR_TOKEN);
  expect(books.body).toMatchObject({ consistent: true });
  const [sums] = await query(
    `SELECT (SELECT sum(balance) FROM accounts) AS balances,
            (SELECT sum(amount) FROM postings) AS postings`,
  );
  expect(sums?.["balances"]).toEqual(sums?.["postings"]);
}

describe.runIf(onlyOn("postgres"))("two relays in processes of their own on one database", () => {
  beforeEach(async () => {
    databaseUrl = await openDatabaseOf(randomUUID());
    balancer = await startBalancer(() => [...running.values()]);
  });
  afterEach(async () => {
    running.clear();
    await Promise.all([endRelays(), balancer.close()]);
  });

  test("two relays lose nothing that was acknowledged when one is killed again and again", async () => {
    const [first, second] = await Promise.all([start(), start()]);
    const load = await createLoadAgents(urlOf(first));
    let victim = second;
    for (let round = 0; round < 2; round += 1) {
      const before = load.acknowledged.receipts.size;
      const isHalf = () => load.acknowledged.receipts.size > before + 10;
      const isDone = () => load.acknowledged.receipts.size > before + 30;
      const work = [urlOf(first), urlOf(victim)].map((url) => runLoad(url, load, isDone, 4));
      await expect.poll(isHalf, { timeout: 30_000 }).toBe(true);
      await kill(victim);
      await Promise.all(work);
      victim = await start();
    }
    for (const url of running.values()) expect(await listMissing(url, load)).toEqual([]);
    await expectConsistentBooks(urlOf(first));
  });

  test("both killed at once lose nothing, and either starts alone", async () => {
    const both = await Promise.all([start(), start()]);
    const load = await createLoadAgents(urlOf(both[0]));
    const isDone = () => load.acknowledged.receipts.size > 400;
    const work = both.map((relay) => runLoad(urlOf(relay), load, isDone, 4));
    await expect
      .poll(() => load.acknowledged.receipts.size, { timeout: 30_000 })
      .toBeGreaterThan(30);
    await Promise.all(both.map(kill));
    await Promise.all(work);
    const again = await start();
    expect(await listMissing(urlOf(again), load)).toEqual([]);
    await expectConsistentBooks(urlOf(again));
    // It becomes the leader only when the lease of the killed process has ended.
    const leader =
      "SELECT holder FROM leases WHERE until > extract(epoch FROM clock_timestamp()) * 1000";
    const live = "SELECT process_id AS holder FROM processes ORDER BY started_at DESC LIMIT 1";
    await expect
      .poll(async () => (await query(leader))[0]?.["holder"], { timeout: 20_000 })
      .toBe((await query(live))[0]?.["holder"]);
  });

  test("the death of the process with the socket and the poll leaves one receipt", async () => {
    const processes = await Promise.all([start(), start()]);
    const load = await createLoadAgents(balancer.url);
    await runLoad(balancer.url, load, ({ deposits }) => deposits.length > 4, 1);
    const device = listenAsDevice(load.worker, balancer.url);
    await device.heard("ready");
    const path = `/agent/${load.worker.agentId}/task`;
    const submit = async (prompt: string) => {
      const { status, body } = await requestJson(balancer.url + path, OPERATOR_TOKEN, "POST", {
        prompt,
        submitted_by: load.payer.agentId,
      });
      expect({ status, body }).toMatchObject({ status: 201 });
      return { task_id: String(body["task_id"]), prompt, submitted_at: Date.now() };
    };
    const task = await submit("claimed before");
    await device.heard("task_assigned");
    device.socket.send({ type: "claim", task_id: task.task_id });
    await device.heard("claimed");

    // The device's presence reaches the database soon after the device is connected.
    const findName = async () => {
      const [presence] = await query(
        `SELECT name FROM presences JOIN processes USING (process_id)
         WHERE agent_id = '${load.worker.agentId}'`,
      );
      return presence?.["name"];
    };
    await expect.poll(findName).toBeDefined();
    const name = String(await findName());
    const holder = processes.find(({ pid }) => name.endsWith(`-${pid}`));
    if (holder === undefined) throw new Error("no process has the socket");
    const poll = requestJson(
      `${urlOf(holder)}${path}/${task.task_id}?wait=20`,
      OPERATOR_TOKEN,
    ).catch(() => "cut" as const);
    await kill(holder);
    expect(await poll).toBe("cut");
    const later = await submit("submitted after");
    await device.heard("ready", 2);
    await device.heard("task_assigned", 2);
    device.socket.send({ type: "claim", task_id: later.task_id });
    await device.heard("claimed", 2);
    for (const each of [task, later]) {
      const receipt = { ...createReceipt(load.worker, each) };
      device.socket.send({ type: "result", task_id: each.task_id, receipt });
    }
    await device.heard("result_accepted", 2);
    for (const { task_id } of [task, later]) {
      const { body } = await requestJson(`${balancer.url}${path}/${task_id}`, OPERATOR_TOKEN);
      expect(body).toMatchObject({ task: { status: "completed" } });
    }
    const settled = await query("SELECT task_id FROM settlements");
    expect(new Set(settled.map((row) => row["task_id"])).size).toBe(settled.length);
    await expectConsistentBooks(balancer.url);
    device.socket.close();
  });

  test("SIGTERM gives up the leadership at once", async () => {
    const first = await start();
    const second = await start();
    const fence = async () => Number((await query("SELECT fence FROM leases"))[0]?.["fence"]);
    const before = await fence();
    first.kill("SIGTERM");
    expect(await first.ended).toEqual({ code: 0, signal: null });
    running.delete(first);
    await expect.poll(fence, { timeout: 5_000 }).toBe(before + 1);
    expect(await query("SELECT 1 FROM processes")).toHaveLength(1);
    const ready = await fetch(`${urlOf(second)}/health/ready`);
    expect(ready.status).toBe(200);
    // An orderly shutdown is not an error that should alert an operator.
    expect([first.stderr(), second.stderr()]).toEqual(["", ""]);
  });
});
